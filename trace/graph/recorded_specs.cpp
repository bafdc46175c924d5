#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

ValueSpecs specs_of(const Graph& graph, const Recording& recording) {
  ValueSpecs specs;
  for (const Value& value : graph.values) specs.push_back(value.spec);
  for (const NodeRecord& record : recording.nodes) {
    if (record.graph_node == none) continue;
    std::vector<ValueId> made;
    for (const ValueId id : graph.nodes.at(static_cast<std::size_t>(record.graph_node)).outputs)
      if (id != no_value) made.push_back(id);
    if (made.size() != record.outputs.size()) continue;  // Some are not tensors.
    for (std::size_t i = 0; i < made.size(); ++i)
      if (record.outputs[i].spec != none)
        specs[static_cast<std::size_t>(made[i])] =
            recording.specs[static_cast<std::size_t>(record.outputs[i].spec)];
  }
  return specs;
}

}  // namespace symprof::trace
