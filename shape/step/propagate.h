// Runs one step of a graph on tensors without storage.
//
// Public header.
#pragma once

#include "record/recording.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Records forward, loss, backward and optimizer step of `graph`, prepared by
/// trace/passes/prepare.h, on fake tensors of `options.device`. Throws Error that names the node
/// for an operator without a rule, a shape mismatch, or a data-dependent shape. Thread-safe.
Recording propagate(const Graph& graph, const StepOptions& options);

}  // namespace symprof::shape
