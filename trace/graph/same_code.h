// Whether two graphs are the same code.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// True if the graphs differ at most in the shapes and dtypes of inputs: the same file at other
/// sizes. Graphs that differ otherwise may count as different where they are the same.
bool has_same_code(const Graph& a, const Graph& b);

}  // namespace symprof::trace
