// Activation checkpointing of chosen modules, in a graph that was made without it.
#pragma once

#include <string>
#include <vector>

#include "record/checkpoint_plan.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// Folds the nodes of every call of a module whose path matches one of `patterns` into one node
/// `higher_order::tag_activation_checkpoint`, as torch.export writes
/// torch.utils.checkpoint.checkpoint: backward recomputes it, and nothing inside is saved. Patterns
/// are those of module_patterns.h; the outermost of nested matches counts. Regions of `plan` become
/// such nodes too; the activations that they save are the argument `kept_argument`, a list of
/// names. Throws Error for modules that do not exist, that overlap, or that one region has twice.
void checkpoint_modules(Graph& graph, const std::vector<std::string>& patterns,
                        const CheckpointPlan& plan = {});

inline constexpr const char* kept_argument = "kept";

}  // namespace symprof::trace
