// The cuBLAS workspace, for operators that call cuBLAS among other libraries.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// The thread's cuBLAS workspace; none if a tensor is empty.
Scratch cublas(const Call& call, const DeviceSpec& device);

}  // namespace symprof::profile
