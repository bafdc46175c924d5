// Tables of positions, which end where the longest sequence ends.
#pragma once

#include "trace/passes/repeated_heads.h"

namespace symprof::trace {

/// Warns of each table of positions in a graph with a key-value cache (Graph::kv_cache) that has
/// fewer rows than the cache and the step have tokens. Such a table is an embedding whose indices,
/// one for each token of the step, count up.
void check_position_tables(Graph& graph, const SpecOf& spec_of);

}  // namespace symprof::trace
