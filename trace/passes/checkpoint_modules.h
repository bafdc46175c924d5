// Activation checkpointing of chosen modules, in a graph that was made without it.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts the nodes of every call of a module whose path matches one of `patterns` into one node
/// `higher_order::tag_activation_checkpoint`, as which torch.export writes
/// torch.utils.checkpoint.checkpoint: nothing inside is kept for backward, which runs it again.
/// Patterns are those of module_patterns.h; the outermost of nested matches counts.
void checkpoint_modules(Graph& graph, const std::vector<std::string>& patterns);

}  // namespace symprof::trace
