// The calls of Python functions that made the nodes of a graph without lines of Python.
#pragma once

#include <string>
#include <unordered_map>

namespace symprof::trace {

/// By node name: the number of the function call in which the node ran. Nodes of unknown calls have
/// no entry.
using FunctionCalls = std::unordered_map<std::string, int>;

}  // namespace symprof::trace
