// Prepares a model for a step on several ranks.
#pragma once

#include <optional>

#include "session/settings.h"
#include "trace/graph/graph.h"

namespace symprof {

/// The dtype in which the model computes: FSDP2's param_dtype, or the given one.
std::optional<DType> dtype_that_runs(const Settings& settings);

/// Places the ranks on the mesh. Without a PyTorch engine they are the ranks of the file's own
/// collectives. Throws Error where the engine has another number of ranks.
void use_mesh(Settings& settings);

/// Derives settings from `settings.step.parallel` and the file's graph: the dtype and the shards of
/// the update, and the modules of the pipeline's stages.
void start_parallel(Settings& settings, const Graph& graph);

/// Finds the modules that FSDP2 wraps in the prepared graph. Throws Error for a pattern that no
/// module matches.
void choose_wrapped(Settings& settings, const Graph& graph);

/// True if the step is that of the pipeline rank with the most memory.
bool asks_for_fullest_rank(const Settings& settings);

}  // namespace symprof
