// A graph's step on real tensors, timed.
#pragma once

#include "measure/run.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::measure {

/// The same interpreter and recipe as a profile's, on tensors with random numbers. Some steps are
/// timed as a whole, then as many call by call: on the CPU by a clock, on a GPU by CUPTI's records
/// or, if not available, by CUDA events. Throws Error that names the failing node or an unsupported
/// feature, or (not_available) if there is no such device.
Run run_on_device(const Graph& graph, const StepOptions& step, const RunOptions& options);

}  // namespace symprof::measure
