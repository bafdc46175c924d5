// A key-value cache for a graph that was exported without one: one step of generation.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/passes/repeated_heads.h"

namespace symprof::trace {

/// Keys or values of one attention.
struct CachedTensor {
  ValueId past = no_value;     ///< Of earlier tokens: an input of the graph.
  ValueId step = no_value;     ///< Of the step's tokens.
  ValueId present = no_value;  ///< Of all of them: a result.
  /// The result with which the step's are not needed any more: names hold them until keys and
  /// values are joined.
  ValueId step_until = no_value;
};

struct KeyValueCache {
  std::vector<CachedTensor> tensors;  ///< In the order in which they are joined.
  std::int64_t sequences = 0;         ///< Of the batch.
  std::int64_t added_tokens = 0;      ///< By the step, to each sequence.
};

/// Gives every self-attention (aten::scaled_dot_product_attention, onnx::Attention) a cache of
/// `tokens` tokens, as transformers' DynamicLayer.update does it: keys and values are appended to
/// new copies of those of the tokens before, with the heads that they have before they are repeated
/// for the queries (grouped queries). A causal attention of one token needs no mask any more; one
/// of several gets one mask for all, and its key heads are then repeated where they were grouped
/// (transformers/integrations/sdpa_attention.py). A mask over the keys grows by `tokens`.
///
/// An attention whose keys are not as many as its queries (cross-attention) is left alone, with a
/// warning. `spec_of` is of the graph without a cache. Throws Error when no attention takes a
/// cache.
KeyValueCache add_key_value_cache(Graph& graph, std::int64_t tokens, const SpecOf& spec_of);

}  // namespace symprof::trace
