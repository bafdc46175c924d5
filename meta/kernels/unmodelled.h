// The operator that stands for one of a file without a rule: it makes tensors of the shapes that
// the file gives, and nobody knows what it costs.
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
