// One optimizer step as Python's torch.optim makes it, call by call.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/step.h"

namespace symprof::shape {

/// State tensors of one parameter group, made before the step as an earlier step would have left
/// them. Which ones there are: torch/optim/{sgd,adam,adamw}.py, `_init_group`.
struct OptimizerState {
  std::vector<at::Tensor> momentum;    ///< SGD's momentum_buffer.
  std::vector<at::Tensor> exp_avg;     ///< Adam's first moment.
  std::vector<at::Tensor> exp_avg_sq;  ///< Adam's second moment.
  std::vector<at::Tensor> step;        ///< On the device for the fused variant only.
};

/// Fake tensors, made without a call.
OptimizerState make_state(const std::vector<at::Tensor>& parameters, Optimizer optimizer,
                          OptimizerVariant variant);

/// Updates `parameters`, all of which have gradients, with PyTorch's default hyperparameters
/// (momentum 0.9; AdamW's decoupled weight decay 0.01).
void step(const std::vector<at::Tensor>& parameters, OptimizerState& state, Optimizer optimizer,
          OptimizerVariant variant);

}  // namespace symprof::shape
