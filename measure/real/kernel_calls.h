// Operator calls whose kernels have a given work.
#pragma once

#include <c10/core/Device.h>

#include "measure/real/kernel_call.h"
#include "profile/time/kernel.h"

namespace symprof::measure::real {

/// Returns an operator call whose kernel does the work of `kernel`, as the rules of
/// profile/cost/time see it. If several operators have kernels of this class, the size selects one,
/// so that each gets a share. Empty if no operator on this device has such work.
KernelCall kernel_call(const profile::Kernel& kernel, c10::Device device);

}  // namespace symprof::measure::real
