// Operator calls whose kernels have a given work.
#pragma once

#include <c10/core/Device.h>

#include "measure/real/kernel_call.h"
#include "profile/time/kernel.h"

namespace symprof::measure::real {

/// What has the work that the rules of times (profile/cost/time) see in a call of it. Where a class
/// has several operators, the size decides which, so that all have their share. Empty: nothing on
/// this device has such work.
KernelCall kernel_call(const profile::Kernel& kernel, c10::Device device);

}  // namespace symprof::measure::real
