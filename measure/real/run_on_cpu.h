// A graph's step on real tensors of the CPU, timed.
#pragma once

#include "measure/run.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::measure {

/// The same interpreter and recipe as a profile's, on tensors with random numbers. Some steps are
/// timed whole, then as many call by call. Throws Error that names the node, or what a step on the
/// CPU does not have.
Run run_on_cpu(const Graph& graph, const StepOptions& step, const RunOptions& options);

}  // namespace symprof::measure
