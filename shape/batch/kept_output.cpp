#include "shape/batch/kept_output.h"

namespace symprof::shape {
namespace {

std::size_t place_of(ValueId id) { return static_cast<std::size_t>(id); }

/// By ValueId: true if the value depends on the inputs.
std::vector<bool> following_inputs(const Graph& graph) {
  std::vector<bool> follows(graph.values.size(), false);
  for (const ValueId id : graph.inputs) follows[place_of(id)] = true;
  for (const Node& node : graph.nodes) {
    bool any = false;
    for_each_value(node,
                   [&](ValueId id) { any = any || (id != no_value && follows[place_of(id)]); });
    for (const ValueId id : node.outputs)
      if (id != no_value) follows[place_of(id)] = any;
  }
  return follows;
}

}  // namespace

std::optional<ValueId> kept_output(const Graph& graph, const SeenValues& file,
                                   const SeenValues& tried, const Batches& batches) {
  if (batches.file == 1) return std::nullopt;
  const std::vector<bool> follows = following_inputs(graph);
  for (const ValueId id : graph.outputs) {
    if (id == no_value || graph.value(id).kind != ValueKind::result || !follows[place_of(id)])
      continue;
    const auto& before = file.sizes[place_of(id)];
    const auto& after = tried.sizes[place_of(id)];
    if (!before || !after || before->empty() || before->front() != batches.file) continue;
    if (after->front() == before->front()) return id;
  }
  return std::nullopt;
}

}  // namespace symprof::shape
