// Functions without source lines whose results autocast may promote.
#pragma once

#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Warns if, under autocast, a function without source lines in the export mixed lower-precision
/// and float32 tensors, and operators that autocast leaves in float32 read its float32 results.
/// Such a function may cast back (`return out.type(dtype)`): in float32 the cast had no effect and
/// is not in the file.
void warn_of_promoted_results(const Graph& graph, Recording& recording);

}  // namespace symprof::shape
