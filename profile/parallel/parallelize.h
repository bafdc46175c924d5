// A step of one GPU as one rank of several has it under PyTorch's own engines.
//
// Public header.
#pragma once

#include "base/device_spec.h"
#include "record/recording.h"
#include "record/step_options.h"

namespace symprof::profile {

/// `recording` is of the whole model, run with `step`; the answer has `rank`. Throws Error for a
/// step that the engine would refuse, or that is not simulated.
Recording parallelize(Recording recording, const StepOptions& step);

}  // namespace symprof::profile
