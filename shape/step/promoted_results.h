// Functions without lines that autocast gives two dtypes.
#pragma once

#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Warns where, in a run under autocast, a function of which an export has no lines computed with
/// tensors in a lower precision and in float32, and its float32 results are read by what autocast
/// leaves in float32. Such a function may cast back (`return out.type(dtype)`): in float32 that did
/// nothing, and left nothing in the file.
void warn_of_promoted_results(const Graph& graph, Recording& recording);

}  // namespace symprof::shape
