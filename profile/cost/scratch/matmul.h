// What cuBLAS takes, for operators that call it among others.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// The workspace of the thread, once one of the tensors has elements.
Scratch cublas(const Call& call, const DeviceSpec& device);

}  // namespace symprof::profile
