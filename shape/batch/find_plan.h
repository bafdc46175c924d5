// Which numbers of a graph are its batch: found by running it with the batch of its file and with
// another one, side by side.
//
// Public header.
#pragma once

#include "record/step_options.h"
#include "trace/graph/graph.h"
#include "trace/passes/other_batch.h"

namespace symprof::shape {

/// The plan of `graph`, whose inputs are bound and have a batch that the file fixes
/// (trace::fixed_batch). The plan is what makes the graph run with another batch, tried with two of
/// them, and leaves it as it is with its own. Throws Error, which names the node, where the graph
/// cannot be run with another batch, and where several plans would do and the sizes differ.
trace::BatchPlan find_batch_plan(const Graph& graph, const StepOptions& options);

}  // namespace symprof::shape
