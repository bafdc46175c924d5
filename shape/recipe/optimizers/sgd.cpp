// torch/optim/sgd.py, with its default hyperparameters and momentum 0 or 0.9.
#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape::sgd {
namespace {

constexpr double learning_rate = 1e-3, momentum = 0.9;

// The first step clones the gradients (fused: empty_like of them).
void make_momentum(OptimizerTensors& tensors, OptimizerVariant) {
  for (const at::Tensor& gradient : tensors.gradients)
    tensors.momentum_buffer.push_back(state_like(gradient));
}

void make_nothing(OptimizerTensors&, OptimizerVariant) {}

// _single_tensor_sgd.
void single(const OptimizerTensors& tensors) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor gradient = tensors.gradients[i];
    if (!tensors.momentum_buffer.empty()) {
      const at::Tensor& buffer = tensors.momentum_buffer[i];
      buffer.mul_(momentum).add_(gradient, 1);
      gradient = buffer;
    }
    tensors.parameters[i].add_(gradient, -learning_rate);
  }
}

// _multi_tensor_sgd.
void foreach (const OptimizerTensors& tensors) {
  for (const OptimizerTensors& group : by_dtype(tensors)) {
    if (!group.momentum_buffer.empty()) {
      at::_foreach_mul_(group.momentum_buffer, momentum);
      at::_foreach_add_(group.momentum_buffer, group.gradients, 1);
    }
    at::_foreach_add_(group.parameters,
                      group.momentum_buffer.empty() ? group.gradients : group.momentum_buffer,
                      -learning_rate);
  }
}

// _fused_sgd.
void fused(const OptimizerTensors& tensors, const FusedScaling& scaling) {
  for (const OptimizerTensors& group : by_dtype(tensors))
    at::_fused_sgd_(group.parameters, group.gradients, group.momentum_buffer, /*weight_decay=*/0.0,
                    group.momentum_buffer.empty() ? 0.0 : momentum, learning_rate,
                    /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false, scaling.grad_scale, scaling.found_inf);
}

constexpr OptimizerRule rows[] = {
    {Optimizer::sgd, make_nothing, single, foreach, fused},
    {Optimizer::sgd_momentum, make_momentum, single, foreach, fused},
};

}  // namespace

OptimizerRules rules() { return rows; }

}  // namespace symprof::shape::sgd
