// The operator whose kernel has a given work, with tensors to call it on.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "profile/time/kernel.h"

namespace symprof::measure::real {

/// Calls the operator once; its result.
using KernelCall = std::function<at::Tensor()>;

/// What has the work that the rules of times (profile/cost/time) see in a call of it. Where a class
/// has several operators, the size decides which, so that all have their share. Empty: nothing on
/// this device has such work.
KernelCall kernel_call(const profile::Kernel& kernel, c10::Device device);

}  // namespace symprof::measure::real
