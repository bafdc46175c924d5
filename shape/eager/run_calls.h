// Single calls of a trace, run on tensors without storage: what they launch follows from the
// recording, as for the calls of a step.
#pragma once

#include <vector>

#include "record/operator_call.h"
#include "record/recording.h"
#include "record/step_options.h"

namespace symprof::shape {

/// A recording for each call, without autograd. One without calls: LibTorch has no such operator,
/// the trace does not tell an argument, or the operator refuses what it tells.
std::vector<Recording> run_calls(const std::vector<OperatorCall>& calls,
                                 const StepOptions& options);

}  // namespace symprof::shape
