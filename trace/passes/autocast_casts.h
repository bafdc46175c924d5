// Casts to the dtype of another tensor, where autocast decides what that is.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Makes casts that did nothing in the exported run take the dtype of the tensor that the code
/// names: under autocast that may have another one than in the export. `x.to(y.dtype)` takes that
/// of y; `x.to(dtype)`, whose `dtype` no node shows, that of the first tensor that the function was
/// given. Casts to a dtype that the code names stay, and those whose line is not known.
/// The names of the latter are put into Graph::kept_casts.
void follow_autocast(Graph& graph);

/// Puts the casts that did nothing into Graph::kept_casts, for a graph without lines of Python.
void note_kept_casts(Graph& graph);

}  // namespace symprof::trace
