// Outputs that a file has as the result of a cast that did nothing.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Restores the tensor that the module returns. In `loss = f(logits)`, f may cast, `logits =
/// logits.float()`: in float32 that is the same tensor, and exporters and traces use the cast's
/// name for it. With a real cast, the caller's variable still refers to the tensor before it. So an
/// output becomes the cast's operand if the statement of the outermost function during which the
/// cast ran binds one variable to another result, and nothing reads the cast afterwards. For graphs
/// whose casts change (autocast, another dtype).
void return_uncast(Graph& graph);

}  // namespace symprof::trace
