// Operator calls whose kernels have a given work.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "profile/time/kernel.h"

namespace symprof::measure::real {

/// Calls the operator once and returns its result.
using KernelCall = std::function<at::Tensor()>;

/// A call with this work according to the time rules (profile/cost/time). If a class has several
/// operators, the size selects one, so that all are covered. Empty: no operator on this device has
/// such work.
KernelCall kernel_call(const profile::Kernel& kernel, c10::Device device);

}  // namespace symprof::measure::real
