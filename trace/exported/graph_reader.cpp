#include "trace/exported/graph_reader.h"

#include <fmt/format.h>

#include "trace/exported/scopes.h"
#include "trace/exported/tensor_meta.h"

namespace symprof::trace::exported {
namespace {

class GraphReader {
 public:
  explicit GraphReader(Json json, const Place& place) : json_(json), place_(place) {}

  ReadGraph read() {
    for (Json input : array(member(json_, "inputs", place_), place_)) add_input(input);
    for (Json node : array(member(json_, "nodes", place_), place_)) add_node(node);
    add_specs();
    add_scalars();
    return std::move(read_);
  }

 private:
  ValueId define(std::string_view name, ValueKind kind, const Place& place) {
    const auto [known, is_new] =
        read_.names.try_emplace(name, static_cast<ValueId>(read_.graph.values.size()));
    if (!is_new) fail(place, fmt::format("'{}' is defined a second time", name));
    return read_.graph.add_value({.name = std::string(name), .kind = kind});
  }

  void add_input(Json input) {
    const Tagged tag = tagged(input, place_);
    std::string_view name;
    if (tag.tag == "as_tensor") {
      name = text(member(tag.value, "name", place_), place_);
    } else if (const auto symbol = optional_member(tag.value, "as_name")) {
      name = text(*symbol, place_);
    } else if (tag.tag == "as_custom_obj") {
      fail(place_, fmt::format("the input {} is a custom object", simdjson::minify(tag.value)),
           "Custom classes are not supported: export the model with tensors in their place.");
    } else {
      return;
    }
    read_.graph.inputs.push_back(define(name, ValueKind::input, place_));
  }

  void add_node(Json json) {
    Node node;
    if (const auto name = optional_member(json, "name")) node.name = text(*name, place_);
    if (node.name.empty()) node.name = fmt::format("node_{}", read_.graph.nodes.size());
    const Place place{place_.file, place_.record, node.name};
    OperatorName op = operator_name(text(member(json, "target", place), place));
    node.op = std::move(op.op);
    node.overload = std::move(op.overload);
    for (Json input : array(member(json, "inputs", place), place))
      node.arguments.push_back({std::string(text(member(input, "name", place), place)),
                                argument_value(member(input, "arg", place), context_, place)});
    add_outputs(node, array(member(json, "outputs", place), place), place);
    if (const auto metadata = optional_member(json, "metadata"))
      if (const auto stack = optional_member(*metadata, "nn_module_stack"))
        node.scope = scopes_.intern(text(*stack, place));
    read_.graph.nodes.push_back(std::move(node));
  }

  void add_outputs(Node& node, simdjson::dom::array outputs, const Place& place) {
    for (Json output : outputs) {
      const Tagged tag = tagged(output, place);
      if (tag.tag == "as_tensors") {
        if (outputs.size() != 1)
          fail(place, "a list of tensors beside other results is not supported");
        node.outputs_are_list = true;
        for (Json element : array(tag.value, place)) add_output(node, element, "name", place);
      } else if (tag.tag == "as_tensor") {
        add_output(node, tag.value, "name", place);
      } else if (optional_member(tag.value, "as_name")) {
        add_output(node, tag.value, "as_name", place);
      } else if (tag.tag == "as_none" || tag.tag.starts_with("as_sym_")) {
        node.outputs.push_back(no_value);  // None, or a number that the exporter knew.
      } else {
        fail(place, fmt::format("a result of kind '{}' is not supported", tag.tag));
      }
    }
  }

  /// The exporter calls results that nothing uses "<node>_unused_<i>".
  void add_output(Node& node, Json json, std::string_view key, const Place& place) {
    const std::string_view name = text(member(json, key, place), place);
    const bool unused =
        name.starts_with(node.name) && name.substr(node.name.size()).starts_with("_unused_");
    node.outputs.push_back(unused ? no_value : define(name, ValueKind::result, place));
  }

  void add_specs() {
    for (const auto [name, meta] : object(member(json_, "tensor_values", place_), place_)) {
      const auto found = read_.names.find(name);
      if (found == read_.names.end()) continue;
      TensorMeta tensor = tensor_meta(meta, {place_.file, place_.record, name});
      Value& value = read_.graph.values[static_cast<std::size_t>(found->second)];
      if (value.kind == ValueKind::result && tensor.symbolic) continue;
      if (value.kind != ValueKind::result) value.requires_grad = tensor.requires_grad;
      value.spec = std::move(tensor.spec);
      value.dimensions = std::move(tensor.dimensions);
    }
    for (ValueId id : read_.graph.inputs)
      complete_dimensions(read_.graph.values[static_cast<std::size_t>(id)]);
  }

  static void complete_dimensions(Value& value) {
    if (!value.spec || !value.dimensions.empty()) return;
    for (std::int64_t size : value.spec->sizes) value.dimensions.push_back({size, {}});
  }

  /// Sizes that are inputs themselves: one dimension that says how to bind them, and no spec.
  void add_scalars() {
    const auto sizes = optional_member(json_, "sym_int_values");
    if (!sizes) return;
    for (ValueId id : read_.graph.inputs) {
      Value& value = read_.graph.values[static_cast<std::size_t>(id)];
      const auto size = value.spec ? std::nullopt : optional_member(*sizes, value.name);
      if (!size) continue;
      value.dimensions = {dimension(*size, place_)};
      if (value.dimensions[0].size >= 0) value.scalar = value.dimensions[0].size;
    }
  }

  std::shared_ptr<const Graph> read_branch(Json json, const Place& place) {
    ReadGraph branch = read_graph(json, place);
    branch.graph.path = place.file;
    for (Json output : array(member(json, "outputs", place), place))
      if (const auto id = named_value(branch, output, place)) branch.graph.outputs.push_back(*id);
    return std::make_shared<const Graph>(std::move(branch.graph));
  }

  Json json_;
  Place place_;
  ReadGraph read_;
  ScopeTable scopes_{read_.graph.scopes};
  ArgumentContext context_{
      [this](std::string_view name, const Place& place) { return read_.value(name, place); },
      [this](Json json, const Place& place) { return read_branch(json, place); }};
};

}  // namespace

ValueId ReadGraph::value(std::string_view name, const Place& place) const {
  const auto found = names.find(name);
  if (found == names.end())
    fail(place, fmt::format("uses '{}', which nothing before it defines", name));
  return found->second;
}

ReadGraph read_graph(Json graph, const Place& place) { return GraphReader(graph, place).read(); }

std::optional<ValueId> named_value(const ReadGraph& read, Json argument, const Place& place) {
  const Tagged tag = tagged(argument, place);
  if (tag.tag == "as_tensor")
    return read.value(text(member(tag.value, "name", place), place), place);
  if (const auto name = optional_member(tag.value, "as_name"))
    return read.value(text(*name, place), place);
  if (tag.tag == "as_custom_obj") fail(place, "custom objects are not supported");
  return std::nullopt;
}

}  // namespace symprof::trace::exported
