// New tensors in the dtype of another one, where autocast decides what that is.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Gives `lower` to new tensors (`torch.zeros(…, dtype=x.dtype)`) whose dtype is float32 in the
/// file and would be the lower precision under autocast:
///
/// - where the line of Python names a tensor that autocast has in it;
/// - where no line tells (a function without lines, `**options`), and the tensor is joined to one
///   in the lower precision by `cat` or `stack`. An export has a dtype only where the code gave
///   one, and nobody gives the default one by name to what has another. A trace writes down the
///   default as well: there the line has to leave it open, and where there is none, a warning says
///   how many stay float32 for it;
/// - where no line tells, and the tensor holds random numbers that are rounded to zeros and ones,
///   and something in the lower precision is multiplied by them: stochastic depth.
void follow_new_tensors(Graph& graph, DType lower);

}  // namespace symprof::trace
