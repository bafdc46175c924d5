// What the kernels of a recording take while they run.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "profile/cost/scratch/scratch.h"
#include "profile/operators/operators.h"
#include "record/recording.h"

namespace symprof::profile {

/// By call. `own` are rules of the caller, which come first; null: none.
std::vector<Scratch> scratch_by_call(const Recording& recording, const DeviceSpec& device,
                                     const OperatorTable* own);

}  // namespace symprof::profile
