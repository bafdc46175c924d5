// Casts that undo another one, of which no line is known: `h = x.float()`, …, `h.to(dtype)`.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Of what a function has cast to float32, nobody casts the outcome to float32: such a cast takes
/// the dtype of something, `dtype = x.dtype`, and did nothing only where x was float32 when the
/// file was made. So those of Graph::kept_casts whose argument comes, within the same line and
/// module and by operators that autocast leaves in float32, from another one of them take the dtype
/// of what that one was given. They are kept no more. A second cast of the same tensor, which a
/// file has as a cast of the first one, takes the tensor itself again, and so does `type_as`.
void follow_casts_back(Graph& graph);

/// Whether autocast runs the operator in the lower precision.
bool is_lowered_by_autocast(const Node& node);

}  // namespace symprof::trace
