// What the open dimensions of a graph's inputs are called, for whoever asks for one by name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Names that a size may be given for: symbols, whole expressions, "<input>.<index>" for either and
/// for a dimension that has no name, and unbacked sizes of results ("u0").
std::set<std::string> dimension_names(const Graph& graph);

/// "Known: idx.0, idx.1; or name them with …".
std::string known_dimensions(const Graph& graph);

/// A name for each dimension of the inputs that has no size in the file: its symbol, or where it
/// stands. Each once, in order.
std::vector<std::string> open_dimensions(const Graph& graph);

/// "idx=[batch,seq]": names for the dimensions of the first input whose file leaves some open, else
/// of the first that has any. Empty where none has.
std::string naming_example(const Graph& graph);

}  // namespace symprof::trace
