// Casts of values that functions without lines computed in mixed precision.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Under autocast `(q * cos).to(dtype)` is float32 before the cast if `cos` is: a cast to a literal
/// float32 would do nothing with and without autocast, and code does not write it. So one of
/// Graph::kept_casts whose argument the same line of the same module made, and which autocast or
/// promotion made float32, takes the dtype of the lower-precision tensor that it was computed from,
/// and is removed from kept_casts. Runs after follow_casts_back.
void follow_promoted_casts(Graph& graph);

}  // namespace symprof::trace
