// Activation checkpointing of chosen modules, in a graph that was made without it.
#pragma once

#include <string>
#include <vector>

#include "trace/graph.h"

namespace symprof::trace {

/// Puts the nodes of every call of a module whose path matches one of `patterns` into one node
/// `higher_order::tag_activation_checkpoint`, as which torch.export writes
/// torch.utils.checkpoint.checkpoint: nothing inside is kept for backward, which runs it again.
/// `*` stands for any text of one component of a path ("encoder.layers.*"), `?` for a character.
/// The outermost of nested matches counts. Throws Error for a pattern that no module matches.
void checkpoint_modules(Graph& graph, const std::vector<std::string>& patterns);

/// Patterns that match more than one module of one type ("encoder.layers.*"), those of the most
/// nodes first: the modules that people checkpoint.
std::vector<std::string> repeated_modules(const Graph& graph);

}  // namespace symprof::trace
