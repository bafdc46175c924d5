// From a model's output to the gradients that backward starts from.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "record/step_options.h"

namespace symprof::shape {

/// `outputs` are the floating-point outputs that need gradients, at least one. `ones` has no loss:
/// the answer is the outputs themselves; the other losses take the first output. cross_entropy
/// reads the class from dimension 1 of an [N, C] or [N, C, H, W] output and from the last dimension
/// of an [N, T, C] one. Throws Error when the output's shape fits no such loss.
std::vector<at::Tensor> make_losses(const std::vector<at::Tensor>& outputs, Loss loss);

struct BackwardStart {
  std::vector<at::Tensor> roots;      ///< What backward is called on.
  std::vector<at::Tensor> gradients;  ///< Undefined for a scalar loss; ones for `ones`.
};

BackwardStart start_backward(std::vector<at::Tensor> roots, Loss loss);

}  // namespace symprof::shape
