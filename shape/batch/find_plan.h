// Finds the numbers of a graph that are its batch, by comparing runs with the file's batch and
// another one.
#pragma once

#include "record/step_options.h"
#include "trace/graph/graph.h"
#include "trace/passes/other_batch.h"

namespace symprof::shape {

/// The batch plan of `graph`, whose inputs are bound and have a batch fixed by the file
/// (trace::fixed_batch). With the plan the graph runs with another batch (verified with two of
/// them) and is unchanged with its own. Throws Error that names the node if the graph cannot run
/// with another batch, or if several plans fit and give different sizes.
trace::BatchPlan find_batch_plan(const Graph& graph, const StepOptions& options);

}  // namespace symprof::shape
