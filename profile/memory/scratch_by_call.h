// Scratch memory of a recording's kernels.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "profile/cost/scratch/scratch.h"
#include "profile/operators/operators.h"
#include "record/recording.h"

namespace symprof::profile {

/// Scratch by call. `own`: the caller's rules, which take precedence; null: none.
std::vector<Scratch> scratch_by_call(const Recording& recording, const DeviceSpec& device,
                                     const OperatorTable* own);

}  // namespace symprof::profile
