// The calls of functions that a calibration of a CPU measures (profile/time/functions.h).
#pragma once

#include "measure/real/kernel_calls.h"

namespace symprof::measure::real {

/// On operands of `of`, which makes a tensor of so many random numbers.
KernelCall function_call(const profile::FunctionWork& work,
                         const std::function<at::Tensor(std::int64_t)>& of);

}  // namespace symprof::measure::real
