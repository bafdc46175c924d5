// Nodes that a join has left without readers.
#pragma once

#include <string>
#include <vector>

#include "trace/graph.h"

namespace symprof::trace {

/// Takes those `candidates` (true or false for each node) out of the graph, and their names out of
/// `calls`, whose results nothing reads but candidates that go as well.
void remove_unread(Graph& graph, std::vector<std::string>& calls, std::vector<bool> candidates);

}  // namespace symprof::trace
