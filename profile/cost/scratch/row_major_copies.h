// Kernels that require row-major tensors: other layouts are copied.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// The first tensor is copied unless it is row-major.
Scratch row_major_first(const Call& call, const DeviceSpec& device);
/// All tensors must be row-major: temporaries for outputs, then copies of inputs.
Scratch row_major_all(const Call& call, const DeviceSpec& device);

}  // namespace symprof::profile
