// Names of the open dimensions of a graph's inputs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The names that a size can be given for: symbols, whole expressions, "<input>.<index>" for either
/// and for a dimension without a name, and unbacked sizes of results ("u0").
std::set<std::string> dimension_names(const Graph& graph);

/// "Known: idx.0, idx.1; or name them with …".
std::string known_dimensions(const Graph& graph);

/// A name for each dimension of the inputs that has no size in the file: its symbol, or its
/// position. In order, each once.
std::vector<std::string> open_dimensions(const Graph& graph);

/// An example of names, "idx=[batch,seq]": for the first input with a dimension whose size the file
/// leaves open, else for the first input with dimensions. Empty if no input has any.
std::string naming_example(const Graph& graph);

}  // namespace symprof::trace
