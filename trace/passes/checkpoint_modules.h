// Activation checkpointing of chosen modules, in a graph that was made without it.
#pragma once

#include <string>
#include <vector>

#include "record/checkpoint_plan.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts the nodes of every call of a module whose path matches one of `patterns` into one node
/// `higher_order::tag_activation_checkpoint`, as which torch.export writes
/// torch.utils.checkpoint.checkpoint: nothing inside is kept for backward, which runs it again.
/// Patterns are those of module_patterns.h; the outermost of nested matches counts. Regions of
/// `plan` become such nodes too; what they keep is the argument `kept_argument`, a list of texts.
/// Throws Error for modules that are not there, that overlap, or that one region holds twice.
void checkpoint_modules(Graph& graph, const std::vector<std::string>& patterns,
                        const CheckpointPlan& plan = {});

inline constexpr const char* kept_argument = "kept";

}  // namespace symprof::trace
