// Rewrites a one-GPU step as the step of one rank under PyTorch's parallel engines.
#pragma once

#include "base/device_spec.h"
#include "record/recording.h"
#include "record/step_options.h"

namespace symprof::profile {

/// `recording`: the whole model, run with `step`. The result has `rank`. Throws Error for a step
/// that the engine would refuse, or that is not simulated.
Recording parallelize(Recording recording, const StepOptions& step);

}  // namespace symprof::profile
