// Which modules of a graph a plan may recompute.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::plan {

/// Paths of modules that do not contain each other, in the order in which they first run: the
/// outermost modules that match `patterns` (trace/graph/module_patterns.h); without patterns the
/// repeated modules with the most nodes, or, in a model without repetition, the largest modules
/// side by side. Throws Error for a pattern that matches no module.
std::vector<std::string> regions_of(const Graph& graph, const std::vector<std::string>& patterns);

}  // namespace symprof::plan
