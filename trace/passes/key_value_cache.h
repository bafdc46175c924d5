// A key-value cache for a graph that was exported without one: one step of generation.
#pragma once

#include <cstdint>

#include "trace/passes/repeated_heads.h"

namespace symprof::trace {

/// Gives every self-attention (aten::scaled_dot_product_attention, onnx::Attention) a cache of
/// `tokens` tokens, as transformers' DynamicLayer.update does it: keys and values are appended to
/// new copies of those of the tokens before, with the heads that they have before they are repeated
/// for the queries (grouped queries). A causal attention of one token needs no mask any more; one
/// of several gets one mask for all, and its key heads are then repeated where they were grouped
/// (transformers/integrations/sdpa_attention.py). A mask over the keys grows by `tokens`.
///
/// An attention whose keys are not as many as its queries (cross-attention) is left alone, with a
/// warning. `spec_of` is of the graph without a cache. Fills Graph::kv_cache. Throws Error when no
/// attention takes a cache.
void add_key_value_cache(Graph& graph, std::int64_t tokens, const SpecOf& spec_of);

}  // namespace symprof::trace
