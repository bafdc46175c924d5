// Empty tensors that a cache starts with: `keys = torch.tensor([], dtype=key.dtype)`, and then
// `keys = torch.cat([keys, key])`.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Gives empty floating-point tensors that the code makes and appends to the dtype that they would
/// have under autocast. The file has the dtype of the exported run, and `cat` promotes to the
/// widest dtype. Such code takes the dtype of the first tensor that it appends for all caches that
/// it starts: transformers' caches make keys and values in that of the keys (`lazy_initialization`
/// in transformers/cache_utils.py). An empty tensor with a dtype of its own, `torch.tensor([])`,
/// stays.
void follow_empty_beginnings(Graph& graph);

}  // namespace symprof::trace
