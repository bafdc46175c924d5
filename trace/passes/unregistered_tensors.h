// Tensors that modules hold as plain attributes, which no file has.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Fills Graph::unregistered_bytes from the constructors of the graph's modules, whose Python
/// source is below `folders` (trace/python/source/constructors.h). Attributes that the graph has
/// are registered and do not count. Returns how many classes were found.
int note_unregistered_tensors(Graph& graph, const std::vector<std::string>& folders);

/// The same for a file with lines of Python of its own. Throws Error if no class is found.
void note_unregistered_tensors_of_export(Graph& graph, const std::vector<std::string>& folders);

}  // namespace symprof::trace
