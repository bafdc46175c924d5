#include "shape/interpreter/leaves.h"

#include <fmt/format.h>

#include "base/error.h"

namespace symprof::shape {

bool stays_real(const Graph& graph, const Value& value) {
  if (graph.format != "onnx" || value.kind != ValueKind::constant || value.constant == nullptr)
    return false;
  return !is_floating_point(value.constant->spec.dtype) || value.constant->spec.sizes.empty();
}

std::vector<bool> numbers_of_code(const Graph& graph) {
  std::vector<bool> is_copied(graph.values.size()), is_used(graph.values.size());
  for (const Node& node : graph.nodes) {
    std::vector<bool>& found = node.op == "aten::lift_fresh_copy" ? is_copied : is_used;
    for_each_value(node, [&](ValueId id) {
      if (id != no_value) found[static_cast<std::size_t>(id)] = true;
    });
  }
  for (const ValueId id : graph.outputs)
    if (id != no_value) is_used[static_cast<std::size_t>(id)] = true;
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    is_copied[i] = is_copied[i] && !is_used[i] && graph.values[i].kind == ValueKind::constant;
  return is_copied;
}

const TensorSpec& spec_of_leaf(const Graph& graph, const Value& value) {
  if (value.spec) return *value.spec;
  throw Error(graph.path, fmt::format("{} has no known shape", value.name),
              fmt::format("Give it with {}.", setting("inputs")));
}

}  // namespace symprof::shape
