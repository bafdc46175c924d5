// Casting a trace, a graph without lines of Python whose function calls are known.
#pragma once

#include "trace/graph/graph.h"
#include "trace/python/dtypes/function_calls.h"

namespace symprof::trace {

/// `cast_floating_point` (trace/passes/training_mode.h) of such a graph.
void cast_floating_point(Graph& graph, DType dtype, const FunctionCalls& calls);

}  // namespace symprof::trace
