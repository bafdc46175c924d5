// A placeholder for an operator of the file that symprof has no rule for: it makes tensors of the
// shapes that the file gives. Its cost is unknown.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::kernels {

/// Arguments: the name of the operator that it stands for, its tensors, and its results.
inline constexpr std::string_view unmodelled_operator = "symprof::unmodelled";

/// One call for `op` that reads `inputs` and makes tensors of `results`, below autograd.
std::vector<at::Tensor> call_unmodelled(const std::string& op,
                                        const std::vector<at::Tensor>& inputs,
                                        const std::vector<TensorSpec>& results, c10::Device device);

}  // namespace symprof::kernels
