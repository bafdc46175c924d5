// Tensors that modules hold and that no file has.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Fills Graph::unregistered_bytes from the constructors of the graph's modules, whose Python lies
/// below `folders` (trace/frames/constructors.h). What the graph has under such a name is
/// registered. Returns how many classes were found.
int note_unregistered_tensors(Graph& graph, const std::vector<std::string>& folders);

/// The same for a file whose lines of Python are its own. Throws Error where no class is found.
void note_unregistered_tensors_of_export(Graph& graph, const std::vector<std::string>& folders);

}  // namespace symprof::trace
