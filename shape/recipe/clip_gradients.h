// Gradient clipping between backward and the update.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace symprof::shape {

/// torch.nn.utils.clip_grad_norm_ (torch/nn/utils/clip_grad.py) with the 2-norm, foreach as on
/// CUDA, on the gradients of all parameters.
void clip_grad_norm(const std::vector<at::Tensor>& gradients);

}  // namespace symprof::shape
