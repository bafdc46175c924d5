// A call of an operator on tensors that are there.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace symprof::measure::real {

/// Calls the operator once; its result.
using KernelCall = std::function<at::Tensor()>;

}  // namespace symprof::measure::real
