// Attributes a trace's time to the nodes of a model.
#pragma once

#include "measure/measurement.h"
#include "measure/trace.h"

namespace symprof::measure {

/// The time of each node of `recording` in `trace`, a trace of the same model's step. Forward
/// operators are matched to nodes by names, shapes and order; an autograd node belongs to the
/// operator that created it, by its sequence number; AccumulateGrad and gradient sums belong to the
/// last node. Times are means over the steps. Throws Error if nothing took time.
Measurement on_nodes(const Recording& recording, const Trace& trace);

}  // namespace symprof::measure
