#include "trace/graph/unread_nodes.h"

#include <unordered_map>

namespace symprof::trace {

std::vector<bool> remove_unread(Graph& graph, std::vector<bool> candidates) {
  std::unordered_map<ValueId, int> reads;
  const auto count = [&](const Node& node, int by) {
    for (const Argument& argument : node.arguments)
      for_each_value(argument, [&](ValueId id) { reads[id] += by; });
  };
  for (const Node& node : graph.nodes) count(node, 1);
  for (const ValueId id : graph.outputs) ++reads[id];
  for (const Mutation& mutation : graph.mutations) ++reads[mutation.source];
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!candidates[i]) continue;
    for (const ValueId id : graph.nodes[i].outputs)
      if (id != no_value && reads[id] > 0) candidates[i] = false;
    if (candidates[i]) count(graph.nodes[i], -1);
  }
  erase_gone(graph.nodes, candidates);
  return candidates;
}

}  // namespace symprof::trace
