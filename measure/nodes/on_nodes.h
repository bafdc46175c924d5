// A trace's time, given to the nodes of a model.
//
// Public header.
#pragma once

#include "measure/measurement.h"
#include "measure/trace.h"

namespace symprof::measure {

/// How long each node of `recording` took in `trace`, a recording of the same model's step.
/// Operators of the forward pass are nodes by names, shapes and order; a node of autograd belongs
/// to the operator that made it, by its sequence number; AccumulateGrad and sums of gradients
/// belong to the node that ran last. Of several steps the mean is taken. Throws Error where nothing
/// took time.
Measurement on_nodes(const Recording& recording, const Trace& trace);

}  // namespace symprof::measure
