// Lines that run repeatedly in a loop and call no module that would show it.
#pragma once

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// True for each node with which its line begins another iteration: `x = torch.relu(x * 2)` in a
/// loop calls mul, relu, mul, relu. The line has to name every function that it calls, as often as
/// it runs; calls from other functions or from a comprehension show nothing.
std::vector<bool> lines_beginning_again(const Graph& graph);

}  // namespace symprof::trace
