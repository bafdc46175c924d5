// Casts back to a tensor's dtype whose line is not known: `h = x.float()`, …, `h.to(dtype)`.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Code does not upcast a value that it has already upcast. So one of Graph::kept_casts whose
/// argument comes from another one of them, within the same line and module and only by operators
/// that autocast leaves in float32, is a cast back, `dtype = x.dtype`: it takes the dtype of what
/// the first cast was given, and is removed from kept_casts. A second cast of the same tensor,
/// which the file has as a cast of the first one's result, takes the tensor itself again, and so
/// does `type_as`.
void follow_casts_back(Graph& graph);

/// True if autocast runs the operator in the lower precision.
bool is_lowered_by_autocast(const Node& node);

}  // namespace symprof::trace
