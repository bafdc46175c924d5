// Flattens the higher-order operators that run a subgraph once, where they stand.
#pragma once

#include <string_view>

#include "trace/graph.h"

namespace symprof::trace {

/// Marker nodes. `region_grad_mode` has the argument `enabled`; `region_autocast` has `enabled` and
/// may have `dtype`; `region_end` closes the innermost region.
constexpr std::string_view region_grad_mode = "region::grad_mode";
constexpr std::string_view region_autocast = "region::autocast";
constexpr std::string_view region_end = "region::end";

/// Replaces each `higher_order::wrap_with_set_grad_enabled` and `higher_order::wrap_with_autocast`
/// node by a marker, the nodes of its subgraph, and `region_end`; and `wrap`, `strict_mode`,
/// `hints_wrapper`, `invoke_subgraph` and `run_const_graph` by the nodes alone. Scopes of the
/// subgraph's nodes are kept. Nested regions are flattened too, and those inside other subgraphs.
void inline_regions(Graph& graph);

}  // namespace symprof::trace
