// Who reads a cast that did nothing, and who the tensor before it.
#pragma once

#include "trace/graph/graph.h"
#include "trace/passes/cast_lines.h"

namespace symprof::trace {

/// Gives readers of casts to a named dtype back what their code reads. `h = x.float()` is x itself
/// where x is float32: torch.export takes all that the code reads of x from there on for the
/// result of the cast, and the sum of a residual would read h. A reader means x
///
/// - after the function that casts has returned, if it was given x and goes on with the cast
///   inside;
/// - in a later statement that has the name of x in it, and not that of the cast;
/// - where it takes the dtype of x: `f(x.float()).type_as(x)`.
void restore_readers(Graph& graph, CastLines& lines);

/// Two modules that are given one tensor and cast it, `r.type(self.r.dtype)`, are written as a cast
/// of the first one's cast where that did nothing. Each takes the tensor itself again.
void restore_repeated_casts(Graph& graph);

}  // namespace symprof::trace
