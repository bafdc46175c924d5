// Outputs that a file names by a cast which did nothing when the file was made.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts back which tensor the module returns. In `loss = f(logits)` a function may cast,
/// `logits = logits.float()`: in float32 that is the same tensor, for which an exporter and a trace
/// have the last name that they gave it, the cast's. Where the cast does something, the caller's
/// name still holds the tensor as it was. So an output takes what the cast was given, where the
/// statement of the outermost function during which it ran binds one name to another result, and
/// nothing reads the cast after it. For graphs in which casts change (`--autocast`, `--dtype`).
void return_uncast(Graph& graph);

}  // namespace symprof::trace
