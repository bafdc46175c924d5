// Readers of a cast that did nothing, and readers of the tensor before it.
#pragma once

#include "trace/graph/graph.h"
#include "trace/python/dtypes/cast_lines.h"

namespace symprof::trace {

/// Points readers of no-op casts to a literal dtype back to the tensor that their code reads. `h =
/// x.float()` is x itself if x is float32: torch.export then uses the result of the cast for every
/// later read of x, and the sum of a residual would read h. A reader means x
///
/// - after the function that casts has returned, if x was its argument and is also read after the
///   call;
/// - in a later statement that names x, and not the result of the cast;
/// - if it takes the dtype of x: `f(x.float()).type_as(x)`.
void restore_readers(Graph& graph, CastLines& lines);

/// If two modules cast one tensor, `r.type(self.r.dtype)`, and the first cast did nothing, the file
/// has the second one as a cast of the first. Points each back to the tensor itself.
void restore_repeated_casts(Graph& graph);

}  // namespace symprof::trace
