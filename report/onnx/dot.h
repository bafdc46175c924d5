// Drawings of graphs in graphviz' language.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "workbench/draw/folded_graph.h"

namespace symprof::report {

/// A cost of nodes that colors them: white for nothing, red for the most.
using NodeCosts = std::map<std::string, std::int64_t>;

/// Writes `graph` for graphviz' dot: clusters for modules and repeated blocks, arrows with types.
/// `costs`, by node name, may be empty: colors then show kinds of operators.
void write_dot(fmt::memory_buffer& out, const workbench::FoldedGraph& graph,
               const NodeCosts& costs);

}  // namespace symprof::report
