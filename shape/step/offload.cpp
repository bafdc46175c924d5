#include "shape/step/offload.h"

#include <algorithm>

#include "trace/graph/module_patterns.h"

namespace symprof::shape {

bool offloads_all(const std::vector<std::string>& patterns) {
  return std::ranges::find(patterns, "*") != patterns.end();
}

OffloadedNodes::OffloadedNodes(const Graph& graph, const std::vector<std::string>& patterns,
                               NodeObserver& inner)
    : offloaded_(graph.nodes.size(), offloads_all(patterns)), inner_(inner) {
  if (patterns.empty() || offloads_all(patterns)) return;
  const std::vector<ScopeId> matched = trace::matched_scopes(graph, patterns, "offload_saved");
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    offloaded_[i] = matched[static_cast<std::size_t>(graph.nodes[i].scope)] != 0;
}

void OffloadedNodes::begin_node(std::size_t index) {
  inner_.begin_node(index);
  running_.emplace(offloaded_[index]);
}

void OffloadedNodes::end_node(std::size_t index) {
  running_.reset();
  inner_.end_node(index);
}

}  // namespace symprof::shape
