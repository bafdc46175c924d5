// A graph's step on real tensors, timed.
#pragma once

#include "measure/run.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::measure {

/// The same interpreter and recipe as a profile's, on tensors with random numbers. Some steps are
/// timed whole, then as many call by call: on the CPU by a clock, on a GPU by CUPTI's records, or,
/// where those are not to be had, by CUDA's events. Throws Error that names the node, what a real
/// step does not have, or (not_available) that there is no such device.
Run run_on_device(const Graph& graph, const StepOptions& step, const RunOptions& options);

}  // namespace symprof::measure
