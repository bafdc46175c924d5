#include "engine/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "engine/layer_kinds.h"
#include "engine/mappings.h"
#include "engine/names.h"

namespace symprof::engine {
namespace {

constexpr int no_node = -1;

class Mapper {
 public:
  Mapper(const Engine& engine, const Model& model) : engine_(engine), model_(model) {
    map_.layers.resize(engine.layers.size());
    map_.nodes.resize(model.nodes.size());
    visited_.resize(model.nodes.size());
  }

  NodeMap map() {
    for (int i = 0; i < layer_count(); ++i) add_marks(i);
    for (int i = 0; i < layer_count(); ++i) add_names(i);
    add_log();
    attach_reformats();
    name_tensors();
    for (int i = 0; i < layer_count(); ++i) follow_flow(i);
    for (int i = 0; i < node_count(); ++i) place_neighbors(i);
    decide_mappings(engine_, model_, map_);
    for (LayerNodes& layer : map_.layers) std::ranges::sort(layer.nodes);
    return std::move(map_);
  }

 private:
  int layer_count() const { return static_cast<int>(engine_.layers.size()); }
  int node_count() const { return static_cast<int>(model_.nodes.size()); }
  const Layer& layer(int i) const { return engine_.layers[static_cast<std::size_t>(i)]; }
  const ModelNode& node(int i) const { return model_.nodes[static_cast<std::size_t>(i)]; }
  NodeMapping& mapping(int i) { return map_.nodes[static_cast<std::size_t>(i)]; }
  LayerNodes& nodes_of(int i) { return map_.layers[static_cast<std::size_t>(i)]; }
  int producer(ValueId value) const { return model_.producers[static_cast<std::size_t>(value)]; }

  int find_node(std::string_view name) const {
    const auto found = model_.nodes_by_name.find(std::string(name));
    return found == model_.nodes_by_name.end() ? no_node : found->second;
  }

  void assign(int node, int layer, Rule rule, Certainty certainty) {
    if (mapping(node).is_in(layer)) return;
    mapping(node).layers.push_back({layer, rule, certainty});
    nodes_of(layer).nodes.push_back(node);
  }

  void add_marks(int index) {
    for (const std::string& name : layer(index).metadata)
      if (const int found = find_node(name); found != no_node)
        assign(found, index, Rule::mark, Certainty::certain);
  }

  void add_names(int index) {
    if (reformat_name(layer(index).name)) return;
    for (const NameTerm& term : name_terms(layer(index).name)) {
      if (term.kind == NameTerm::Kind::unnamed) continue;
      int found = find_node(term.text);
      const bool is_exact = found != no_node;
      if (!is_exact) found = find_node(without_number(term.text));
      if (found == no_node) continue;
      // A helper layer that reshapes a node's tensors is not the node if the node has a layer.
      if (term.kind == NameTerm::Kind::helper && !mapping(found).layers.empty()) {
        nodes_of(index).serves = found;
      } else if (is_exact || layer(index).metadata.empty()) {
        assign(found, index, Rule::name, is_exact ? Certainty::certain : Certainty::likely);
      }
    }
  }

  /// The first node in a layer's name from a log line.
  std::optional<int> layer_named(std::string_view name) {
    for (const NameTerm& term : name_terms(name))
      if (const int found = find_node(term.text);
          found != no_node && !mapping(found).layers.empty() && term.kind == NameTerm::Kind::node)
        return mapping(found).first_layer();
    return std::nullopt;
  }

  /// Adds quantizers that were fused according to the log; the last line wins.
  void add_log() {
    for (const Fusion& fusion : engine_.fusions) {
      if (fusion.kind != Fusion::Kind::absorbed) continue;
      const int found = find_node(fusion.quantizer);
      if (found == no_node || !mapping(found).layers.empty()) continue;
      if (const auto taker = layer_named(fusion.into))
        assign(found, *taker, Rule::log, Certainty::certain);
    }
  }

  /// The layers with their number when each region counts as one, as kernels' names count them.
  std::unordered_map<int, std::string> region_names() const {
    std::unordered_map<int, std::string> names;
    for (std::size_t i = 0; i < engine_.regions.size(); ++i)
      if (region_name(engine_.regions[i].name))
        names.emplace(static_cast<int>(i), engine_.regions[i].name);
    return names;
  }

  void attach_reformats() {
    std::unordered_map<std::string_view, int> by_name;
    for (int i = layer_count(); i-- > 0;) by_name[layer(i).name] = i;
    const auto regions = region_names();
    for (int i = 0; i < layer_count(); ++i) {
      if (const auto number = split_kernel_number(layer(i).name).second) {
        const auto known = regions.find(number->region);
        nodes_of(i).region =
            known == regions.end() ? fmt::format("region {}", number->region) : known->second;
      } else if (region_name(layer(i).name)) {
        nodes_of(i).region = layer(i).name;
      }
      const auto reformat = reformat_name(layer(i).name);
      if (!reformat) continue;
      if (const auto owner = by_name.find(reformat->layer); owner != by_name.end())
        nodes_of(i).owner = owner->second;
      else if (region_name(reformat->layer))
        nodes_of(i).region = reformat->layer;
    }
  }

  /// Tensors between layers have the model's names, except those next to a reformat.
  void name_tensors() {
    for (int i = 0; i < layer_count(); ++i) {
      if (!reformat_name(layer(i).name) || layer(i).inputs.size() != 1 ||
          layer(i).outputs.size() != 1)
        continue;
      const std::string& in = layer(i).inputs[0].name;
      const std::string& out = layer(i).outputs[0].name;
      if (out.starts_with("Reformatted "))
        real_names_.emplace(out, in);
      else if (in.starts_with("Reformatted "))
        real_names_.emplace(in, out);
    }
  }

  /// The model's value of a tensor; no_value for the engine's own. The first part of a name that
  /// Myelin numbered ("/act_q/QuantizeLinear_output_0.1_6_myl0") may be a value's.
  ValueId value_of(std::string_view name) const {
    std::string text(name);
    constexpr int most_reformats = 4;
    for (int i = 0; i < most_reformats; ++i)
      if (const auto real = real_names_.find(text); real != real_names_.end()) text = real->second;
    if (const auto found = model_.values.find(text); found != model_.values.end())
      return found->second;
    const std::size_t dot = text.rfind(".1");
    if (dot == std::string::npos) return no_value;
    const auto found = model_.values.find(text.substr(0, dot));
    return found == model_.values.end() ? no_value : found->second;
  }

  /// Walks from the layer's outputs back to its inputs; assigns unmapped nodes in between to the
  /// layer.
  void follow_flow(int index) {
    if (nodes_of(index).owner >= 0 || reformat_name(layer(index).name)) return;
    std::vector<ValueId> stops, pending;
    for (const Tensor& tensor : layer(index).inputs)
      if (const ValueId id = value_of(tensor.name); id != no_value) stops.push_back(id);
    for (const Tensor& tensor : layer(index).outputs)
      if (const ValueId id = value_of(tensor.name); id != no_value) pending.push_back(id);
    std::vector<int> between;
    // Myelin's tensors have only some of the model's names, so they are less reliable.
    bool is_closed = stops.size() == layer(index).inputs.size() &&
                     !split_kernel_number(layer(index).name).second;
    while (!pending.empty()) {
      const ValueId value = pending.back();
      pending.pop_back();
      if (std::ranges::find(stops, value) != stops.end()) continue;
      const int maker = producer(value);
      if (maker == no_node || is_elsewhere(maker, index)) {
        is_closed &= model_.constants[static_cast<std::size_t>(value)] || maker != no_node;
        continue;
      }
      if (visited_[static_cast<std::size_t>(maker)] == index + 1) continue;
      visited_[static_cast<std::size_t>(maker)] = index + 1;
      between.push_back(maker);
      for (const ValueId input : node(maker).inputs) pending.push_back(input);
    }
    for (const int found : between)
      assign(found, index, Rule::flow, is_closed ? Certainty::certain : Certainty::likely);
    if (nodes_of(index).nodes.empty()) serve(index);
  }

  /// True if the node has layers, but not `index`.
  bool is_elsewhere(int node, int index) {
    return !mapping(node).layers.empty() && !mapping(node).is_in(index);
  }

  /// A layer without a node, such as a cast that the parser inserted after an output.
  void serve(int index) {
    for (const Tensor& tensor : layer(index).outputs)
      if (const ValueId id = value_of(tensor.name); id != no_value && producer(id) != no_node)
        nodes_of(index).serves = producer(id);
  }

  /// An unmapped Q is assigned to the preceding layer, a DQ to the following one.
  void place_neighbors(int index) {
    if (!mapping(index).layers.empty()) return;
    const ModelNode& here = node(index);
    if (is_quantizer(here) && !is_constant(model_, here) && !here.inputs.empty()) {
      const int maker = producer(here.inputs.front());
      if (maker != no_node && !mapping(maker).layers.empty())
        assign(index, mapping(maker).first_layer(), Rule::neighbor, Certainty::likely);
    } else if (is_dequantizer(here) || is_quantizer(here)) {
      for (const ValueId output : here.outputs)
        for (const int user : model_.consumers[static_cast<std::size_t>(output)])
          if (!mapping(user).layers.empty())
            return assign(index, mapping(user).first_layer(), Rule::neighbor, Certainty::likely);
    }
  }

  const Engine& engine_;
  const Model& model_;
  NodeMap map_;
  std::unordered_map<std::string, std::string> real_names_;
  std::vector<int> visited_;  ///< By node: the last layer whose walk visited it, counted from 1.
};

}  // namespace

NodeMap map_nodes(const Engine& engine, const Model& model) { return Mapper(engine, model).map(); }

std::string_view quantizer_role(const Engine& engine, const Model& model, const NodeMap& map,
                                int node) {
  const auto index = static_cast<std::size_t>(node);
  const ModelNode& found = model.nodes[index];
  if (!is_quantizer(found) && !is_dequantizer(found)) return {};
  for (const Fusion& fusion : engine.fusions)
    if (fusion.kind == Fusion::Kind::eliminated && fusion.quantizer == found.name)
      return "duplicate";
  for (const Assignment& each : map.nodes[index].layers)
    if (is_lone_quantizer(engine.layers[static_cast<std::size_t>(each.layer)])) return "alone";
  if (!found.inputs.empty() && model.constants[static_cast<std::size_t>(found.inputs.front())])
    return "weights";
  return map.nodes[index].layers.empty() ? std::string_view() : "absorbed";
}

std::string_view name(Rule rule) {
  switch (rule) {
    case Rule::mark:
      return "mark";
    case Rule::name:
      return "name";
    case Rule::log:
      return "log";
    case Rule::flow:
      return "flow";
    case Rule::neighbor:
      return "neighbour";
  }
  return "";
}

std::string_view name(Certainty certainty) {
  switch (certainty) {
    case Certainty::certain:
      return "certain";
    case Certainty::likely:
      return "likely";
  }
  return "";
}

std::string_view name(Mapping mapping) {
  switch (mapping) {
    case Mapping::kernel:
      return "kernel";
    case Mapping::view:
      return "view";
    case Mapping::folded:
      return "folded";
    case Mapping::sizes:
      return "sizes";
    case Mapping::unknown:
      return "unknown";
  }
  return "";
}

}  // namespace symprof::engine
