// The losses of a model's output and the gradients that start backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "record/step_options.h"

namespace symprof::shape {

/// `outputs` are the floating-point outputs that require gradients, at least one. `ones` has no
/// loss and returns the outputs; the other losses use the first output. cross_entropy takes classes
/// from dimension 1 of an [N, C] or [N, C, H, W] output and from the last dimension of an [N, T, C]
/// one. Throws Error if the output's shape fits no such loss.
std::vector<at::Tensor> make_losses(const std::vector<at::Tensor>& outputs, Loss loss);

struct BackwardStart {
  std::vector<at::Tensor> roots;      ///< The roots of backward.
  std::vector<at::Tensor> gradients;  ///< Undefined for a scalar loss; ones for `ones`.
};

BackwardStart start_backward(std::vector<at::Tensor> roots, Loss loss);

}  // namespace symprof::shape
