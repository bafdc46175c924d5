// Casts of what a function without lines computed in two precisions.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Under autocast `(q * cos).to(dtype)` is float32 before the cast where `cos` is: a cast to
/// float32 by name would do nothing in float32 and nothing under autocast, and nobody writes it. So
/// those of Graph::kept_casts whose argument the same line of the same module made, and which is
/// float32 because autocast or an operand made it so, take the dtype of the tensor in the lower
/// precision that it comes from. They are kept no more. After follow_casts_back.
void follow_promoted_casts(Graph& graph);

}  // namespace symprof::trace
