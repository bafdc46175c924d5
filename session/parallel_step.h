// What a step on several ranks asks of a model before it runs.
#pragma once

#include <optional>

#include "session/settings.h"
#include "trace/graph/graph.h"

namespace symprof {

/// The dtype in which the model computes: FSDP2's param_dtype, or the one that was given.
std::optional<DType> dtype_that_runs(const Settings& settings);

/// Where the ranks lie. Without an engine of PyTorch's: they are those of the collectives that the
/// file has itself. Throws Error where the engine has another number of ranks.
void use_mesh(Settings& settings);

/// Settles what follows from `settings.step.parallel` and the graph as the file has it: the dtype
/// and the shards of the update, the modules that stages of a pipeline are made of.
void start_parallel(Settings& settings, const Graph& graph);

/// Finds the modules that FSDP2 wraps in the prepared graph. Throws Error for a pattern that no
/// module matches.
void choose_wrapped(Settings& settings, const Graph& graph);

/// Whether the step is that of the rank of a pipeline that takes most memory, whichever it is.
bool asks_for_fullest_rank(const Settings& settings);

}  // namespace symprof
