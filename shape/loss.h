// From a model's output to the gradients that backward starts from.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "shape/step.h"

namespace symprof::shape {

struct BackwardStart {
  std::vector<at::Tensor> roots;      ///< What backward is called on.
  std::vector<at::Tensor> gradients;  ///< Undefined for a scalar loss.
};

/// `outputs` are the floating-point outputs that need gradients, at least one. `ones` starts from
/// ones on each of them; the other losses take the first one. cross_entropy reads the class from
/// dimension 1 of an [N, C] or [N, C, H, W] output and from the last dimension of an [N, T, C] one.
/// Throws Error when the output's shape fits no such loss.
BackwardStart start_backward(const std::vector<at::Tensor>& outputs, Loss loss);

}  // namespace symprof::shape
