// Empty tensors that a cache begins with: `keys = torch.tensor([], dtype=key.dtype)`, and then
// `keys = torch.cat([keys, key])`.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Gives empty tensors of floating point that the code makes, and that something is appended to,
/// the dtype that they would have under autocast. In the file that is the one of the run that it
/// was made from, and `cat` takes the widest dtype that it is given. Code that begins a cache so
/// takes the dtype of the first tensor that it appends, for all that it begins: transformers'
/// caches make keys and values in that of the keys (`lazy_initialization` in
/// transformers/cache_utils.py). One that the line shows to be made in a dtype of its own,
/// `torch.tensor([])`, stays.
void follow_empty_beginnings(Graph& graph);

}  // namespace symprof::trace
