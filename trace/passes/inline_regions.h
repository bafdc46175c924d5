// Flattens the higher-order operators that run a subgraph once, where they stand.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Replaces each `higher_order::wrap_with_set_grad_enabled` and `higher_order::wrap_with_autocast`
/// node by a marker (trace/graph/region_markers.h), the nodes of its subgraph, and `region_end`;
/// and `wrap`, `strict_mode`, `hints_wrapper`, `invoke_subgraph` and `run_const_graph` by the nodes
/// alone. Scopes of the subgraph's nodes are kept. Nested regions are flattened too, and those
/// inside other subgraphs.
void inline_regions(Graph& graph);

}  // namespace symprof::trace
