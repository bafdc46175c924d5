// Casts of a trace and the functions that they ran in, for a graph without lines of Python.
#pragma once

#include <string>
#include <unordered_map>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// By the name of a node: which call of a Python function it ran in. Nodes of one call have one
/// number; a node of which that is not known is not there.
using FunctionCalls = std::unordered_map<std::string, int>;

/// `cast_floating_point` (trace/passes/training_mode.h) of such a graph.
void cast_floating_point(Graph& graph, DType dtype, const FunctionCalls& calls);

}  // namespace symprof::trace
