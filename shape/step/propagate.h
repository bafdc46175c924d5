// Runs one step of a graph on tensors without storage.
//
// Public header.
#pragma once

#include "record/recording.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Forward, loss, backward and optimizer step of `graph`, which was prepared
/// (trace/passes/prepare.h), on fake tensors of `options.device`. Throws Error that names the node
/// for an operator without a rule, a shape that does not fit, or a shape that depends on data. Safe
/// to call from several threads.
Recording propagate(const Graph& graph, const StepOptions& options);

}  // namespace symprof::shape
