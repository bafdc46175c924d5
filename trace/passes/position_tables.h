// Position embeddings, whose rows limit the length of a sequence.
#pragma once

#include "trace/passes/repeated_heads.h"

namespace symprof::trace {

/// Warns about each position table in a graph with a key-value cache (Graph::kv_cache) that has
/// fewer rows than the cache and the step have tokens. Such a table is an embedding whose indices,
/// one for each token of the step, count up.
void check_position_tables(Graph& graph, const SpecOf& spec_of);

}  // namespace symprof::trace
