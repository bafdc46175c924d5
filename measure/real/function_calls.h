// The function calls that a CPU calibration measures (profile/time/functions.h).
#pragma once

#include "measure/real/kernel_call.h"
#include "profile/time/kernel.h"

namespace symprof::measure::real {

/// `of` makes a tensor of the given number of random elements.
KernelCall function_call(const profile::FunctionWork& work,
                         const std::function<at::Tensor(std::int64_t)>& of);

}  // namespace symprof::measure::real
