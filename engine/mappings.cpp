#include "engine/mappings.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layer_kinds.h"

namespace symprof::engine {
namespace {

/// By node: true if it depends only on shapes and constants.
std::vector<bool> nodes_of_sizes(const Model& model) {
  std::vector<bool> is_size(model.producers.size()), found(model.nodes.size());
  const auto is_known = [&](ValueId id) {
    return is_size[static_cast<std::size_t>(id)] || model.constants[static_cast<std::size_t>(id)];
  };
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const ModelNode& node = model.nodes[i];
    found[i] =
        is_one_of(node, {"Shape", "Size"}) || (!node.inputs.empty() && !is_constant(model, node) &&
                                               std::ranges::all_of(node.inputs, is_known));
    for (const ValueId id : node.outputs) is_size[static_cast<std::size_t>(id)] = found[i];
  }
  return found;
}

/// True if the node takes a constant part of one tensor.
bool takes_a_part(const Model& model, const ModelNode& node) {
  const auto is_fixed = [&](ValueId id) { return model.constants[static_cast<std::size_t>(id)]; };
  return is_one_of(node, {"Gather", "Slice", "Split"}) && !node.inputs.empty() &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(), is_fixed);
}

/// " between layers 3 and 5": the layers before and after a node without a layer, if known.
std::string neighbors(const Model& model, const NodeMap& map, const ModelNode& node) {
  const auto layer_of = [&](int other) {
    return other < 0 ? -1 : map.nodes[static_cast<std::size_t>(other)].first_layer();
  };
  int before = -1, behind = -1;
  for (const ValueId input : node.inputs)
    if (before < 0) before = layer_of(model.producers[static_cast<std::size_t>(input)]);
  for (const ValueId output : node.outputs)
    for (const int user : model.consumers[static_cast<std::size_t>(output)])
      if (behind < 0) behind = layer_of(user);
  if (before >= 0 && behind >= 0) return fmt::format(" between layers {} and {}", before, behind);
  if (before >= 0) return fmt::format(" behind layer {}", before);
  return behind >= 0 ? fmt::format(" before layer {}", behind) : "";
}

}  // namespace

void decide_mappings(const Engine& engine, const Model& model, NodeMap& map) {
  const std::vector<bool> computes_sizes = nodes_of_sizes(model);
  const auto runs = [&](const Assignment& each) {
    return has_kernel(engine.layers[static_cast<std::size_t>(each.layer)]);
  };
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const ModelNode& node = model.nodes[i];
    NodeMapping& found = map.nodes[i];
    if (std::ranges::any_of(found.layers, runs)) {
      found.mapping = Mapping::kernel;
    } else if (!found.layers.empty()) {
      found.mapping = Mapping::view;
      found.reason = fmt::format("layer {} runs no kernel", found.first_layer());
    } else if (is_constant(model, node) || node.inputs.empty()) {
      found.mapping = Mapping::folded;
      found.reason = "follows from constants: computed when the engine was built";
    } else if (computes_sizes[i]) {
      found.mapping = Mapping::sizes;
      found.reason = "computes sizes, which the engine has or computes on the host";
    } else if (is_view(node) || takes_a_part(model, node)) {
      found.mapping = Mapping::view;
      found.reason = (is_view(node) ? "another view of a tensor" : "a part of a tensor") +
                     neighbors(model, map, node);
    } else {
      found.reason = "no layer names it, and it lies between no layer's outputs and inputs";
    }
  }
}

}  // namespace symprof::engine
