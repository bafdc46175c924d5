// Which modules of a graph a plan may run again.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::plan {

/// Paths of modules that do not lie in each other, in the order in which they first run: those that
/// `patterns` match (trace/graph/module_patterns.h), the outermost; without patterns the modules
/// that repeat, those with the most nodes, and of a model without such the largest modules side by
/// side. Throws Error for a pattern that no module matches.
std::vector<std::string> regions_of(const Graph& graph, const std::vector<std::string>& patterns);

}  // namespace symprof::plan
