// Casts to another tensor's dtype, which autocast may change.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Makes no-op casts of the exported run take the dtype of the tensor that the code names, which
/// may differ under autocast. `x.to(y.dtype)` takes that of y; `x.to(dtype)`, if no node shows
/// `dtype`, that of the function's first tensor argument. Casts to a literal dtype and casts
/// without a known line stay; the names of the latter are added to Graph::kept_casts.
void follow_autocast(Graph& graph);

/// Adds all no-op casts to Graph::kept_casts, for a graph without lines of Python.
void note_kept_casts(Graph& graph);

}  // namespace symprof::trace
