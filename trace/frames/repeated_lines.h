// Lines that run again and again in a loop, and call no module that would tell.
#pragma once

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// For each node whether its line has begun again with it: `x = torch.relu(x * 2)` in a loop calls
/// mul, relu, mul, relu. The line has to name every function that it calls, and often enough: what
/// ran in other functions, or in a comprehension, tells nothing.
std::vector<bool> lines_beginning_again(const Graph& graph);

}  // namespace symprof::trace
