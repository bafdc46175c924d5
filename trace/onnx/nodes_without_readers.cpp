#include "trace/onnx/nodes_without_readers.h"

#include <unordered_map>
#include <utility>

namespace symprof::trace {
namespace {

std::vector<bool> unread(const Graph& graph, std::vector<bool> candidates) {
  std::unordered_map<ValueId, int> reads;
  const auto count = [&](const Node& node, int by) {
    for (const Argument& argument : node.arguments)
      for_each_value(argument, [&](ValueId id) { reads[id] += by; });
  };
  for (const Node& node : graph.nodes) count(node, 1);
  for (const ValueId id : graph.outputs) ++reads[id];
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!candidates[i]) continue;
    for (const ValueId id : graph.nodes[i].outputs)
      if (id != no_value && reads[id] > 0) candidates[i] = false;
    if (candidates[i]) count(graph.nodes[i], -1);
  }
  return candidates;
}

}  // namespace

void remove_unread(Graph& graph, std::vector<std::string>& calls, std::vector<bool> candidates) {
  const std::vector<bool> gone = unread(graph, std::move(candidates));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) {
      graph.nodes[kept] = std::move(graph.nodes[i]);
      calls[kept] = std::move(calls[i]);
    }
    ++kept;
  }
  graph.nodes.resize(kept);
  calls.resize(kept);
}

}  // namespace symprof::trace
