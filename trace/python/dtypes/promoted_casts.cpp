#include "trace/python/dtypes/promoted_casts.h"

#include <string>
#include <unordered_set>

#include "trace/graph/uses.h"
#include "trace/python/dtypes/autocast_precision.h"

namespace symprof::trace {

void follow_promoted_casts(Graph& graph) {
  const Uses uses(graph);
  const std::unordered_set<std::string> kept(graph.kept_casts.begin(), graph.kept_casts.end());
  std::unordered_set<std::string> followed;
  AutocastPrecision precision(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    if (kept.contains(node.name) && node.source != no_source) {
      const auto is_inside = [&](std::size_t other) {
        return graph.nodes[other].source == node.source && graph.nodes[other].scope == node.scope;
      };
      const ValueId self = operand(node, 0);
      const ValueId like = lower_origin(graph, uses, precision, self, is_inside);
      if (like != no_value) {
        node.op = "aten::type_as";
        node.overload = "default";
        node.arguments = {{"self", ValueRef{self}}, {"other", ValueRef{like}}};
        followed.insert(node.name);
      }
    }
    precision.add(i);
  }
  std::erase_if(graph.kept_casts, [&](const std::string& name) { return followed.contains(name); });
}

}  // namespace symprof::trace
