// Kernels that want tensors row by row: whatever lies otherwise is copied.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// The first tensor is copied unless it is row-major.
Scratch row_major_first(const Call& call, const DeviceSpec& device);
/// All tensors are wanted row-major: outputs made so beside the real ones, then copies of inputs.
Scratch row_major_all(const Call& call, const DeviceSpec& device);

}  // namespace symprof::profile
