// Adds a key-value cache to a graph that was exported without one: one decoding step.
#pragma once

#include <cstdint>

#include "trace/passes/repeated_heads.h"

namespace symprof::trace {

/// Gives every self-attention (aten::scaled_dot_product_attention, onnx::Attention) a cache of
/// `tokens` tokens, as transformers' DynamicLayer.update does: new keys and values are concatenated
/// to the cached ones, before grouped heads are repeated for the queries. A causal attention of one
/// token needs no mask afterwards; one of several tokens gets one mask for all, and its grouped key
/// heads are then repeated (transformers/integrations/sdpa_attention.py). A mask over the keys
/// grows by `tokens`.
///
/// An attention with another number of keys than queries (cross-attention) stays unchanged, with a
/// warning. `spec_of` is of the graph without a cache. Fills Graph::kv_cache. Throws Error if no
/// attention takes a cache.
void add_key_value_cache(Graph& graph, std::int64_t tokens, const SpecOf& spec_of);

}  // namespace symprof::trace
