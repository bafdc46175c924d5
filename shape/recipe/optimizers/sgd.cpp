// torch/optim/sgd.py, with its default hyperparameters and momentum 0 or 0.9.
#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace sgd {
namespace {

enum State : std::size_t { momentum_buffer };  // None without momentum.

constexpr double learning_rate = 1e-3, momentum = 0.9;

// The first step clones the gradients (fused: empty_like of them).
void make_momentum(OptimizerTensors& tensors, OptimizerVariant) {
  Tensors& buffers = tensors.states.emplace_back();
  for (const at::Tensor& gradient : tensors.gradients) buffers.push_back(state_like(gradient));
}

void make_nothing(OptimizerTensors&, OptimizerVariant) {}

// _single_tensor_sgd.
void single(const OptimizerTensors& tensors) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor gradient = tensors.gradients[i];
    if (!tensors.states.empty()) {
      const at::Tensor& buffer = tensors.states[momentum_buffer][i];
      buffer.mul_(momentum).add_(gradient, 1);
      gradient = buffer;
    }
    tensors.parameters[i].add_(gradient, -learning_rate);
  }
}

// _multi_tensor_sgd.
void foreach (const OptimizerTensors& tensors) {
  for (const OptimizerTensors& group : by_dtype(tensors)) {
    if (!group.states.empty()) {
      at::_foreach_mul_(group.states[momentum_buffer], momentum);
      at::_foreach_add_(group.states[momentum_buffer], group.gradients, 1);
    }
    at::_foreach_add_(group.parameters,
                      group.states.empty() ? group.gradients : group.states[momentum_buffer],
                      -learning_rate);
  }
}

// _fused_sgd.
void fused(const OptimizerTensors& tensors, const FusedScaling& scaling) {
  for (const OptimizerTensors& group : by_dtype(tensors))
    at::_fused_sgd_(group.parameters, group.gradients,
                    group.states.empty() ? Tensors() : group.states[momentum_buffer],
                    /*weight_decay=*/0.0, group.states.empty() ? 0.0 : momentum, learning_rate,
                    /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false, scaling.grad_scale, scaling.found_inf);
}

constexpr OptimizerRule rows[] = {
    {Optimizer::sgd, make_nothing, single, foreach, fused},
    {Optimizer::sgd_momentum, make_momentum, single, foreach, fused},
};

}  // namespace
}  // namespace sgd

OptimizerRules sgd_rules() { return sgd::rows; }

}  // namespace symprof::shape
