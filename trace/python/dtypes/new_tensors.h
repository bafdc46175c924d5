// New tensors in another tensor's dtype, which autocast may change.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Gives the lower precision to new tensors (`torch.zeros(…, dtype=x.dtype)`) whose dtype is
/// float32 in the file and would be lower under autocast. The rules:
///
/// - The line of Python names a tensor that is in the lower precision.
/// - No line tells (a function without lines, `**options`), and `cat` or `stack` joins the tensor
///   to one in the lower precision. An export has a dtype argument only if the code gave one, and
///   code does not write the default dtype explicitly. A trace also records the default: there the
///   line has to leave it open, and without a line a warning counts the tensors that stay float32.
/// - No line tells, the tensor holds random numbers that are rounded to zeros and ones, and a
///   lower-precision tensor is multiplied by them: stochastic depth.
void follow_new_tensors(Graph& graph, DType lower);

}  // namespace symprof::trace
