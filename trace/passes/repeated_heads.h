// Keys and values that are repeated for the query heads before an attention (grouped queries).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/graph/uses.h"

namespace symprof::trace {

/// Sizes of keys and values: [batch, heads, tokens, head size].
constexpr std::size_t heads_dimension = 1, tokens_dimension = 2, attention_rank = 4;

/// The geometry of a value; null if it is no tensor or unknown.
using SpecOf = std::function<const TensorSpec*(ValueId)>;

/// A value [batch, heads, tokens, head size] before its heads are repeated, and the number of
/// copies of each head.
struct HeadSource {
  ValueId value = no_value;
  std::int64_t copies = 1;
  std::vector<std::size_t> nodes;  ///< Nodes that repeat it: indices into Graph::nodes.
};

/// The origin of `value` through the views and copies that exporters write for transformers'
/// repeat_kv; `value` itself if nothing repeats it. `uses` is the graph's.
HeadSource source_of_heads(const Graph& graph, const Uses& uses, ValueId value,
                           const SpecOf& spec_of);

}  // namespace symprof::trace
