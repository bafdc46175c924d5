// torch/optim/adagrad.py, with its default hyperparameters. Its constructor creates the states.
// Step counters are in host memory, except for the fused variant.
#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace adagrad {
namespace {

enum State : std::size_t { sum, step };

constexpr double learning_rate = 1e-2, epsilon = 1e-10;

void make_states(OptimizerTensors& tensors, OptimizerVariant variant) {
  tensors.states.resize(variant == OptimizerVariant::fused ? 2 : 1);
  for (const at::Tensor& parameter : tensors.parameters) {
    if (variant == OptimizerVariant::fused)
      tensors.states[step].push_back(state_of({}, at::kFloat));
    tensors.states[sum].push_back(state_like(parameter));
  }
}

// _single_tensor_adagrad. `std` lives until the next parameter rebinds it.
void single(const OptimizerTensors& tensors) {
  at::Tensor std;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    const at::Tensor gradient = as_real(tensors.gradients[i]);
    const at::Tensor state_sum = as_real(tensors.states[sum][i]);
    const at::Tensor parameter = as_real(tensors.parameters[i]);
    state_sum.addcmul_(gradient, gradient, 1);
    std = state_sum.sqrt().add_(epsilon);
    parameter.addcdiv_(gradient, std, -learning_rate);
  }
}

// _multi_tensor_adagrad. A group's `std` and `numerator` live until the next group rebinds them.
void foreach (const OptimizerTensors& tensors) {
  Tensors std, numerator;
  for (OptimizerTensors& group : by_dtype(tensors)) {
    view_as_real(group);
    const std::vector<at::Scalar> minus_clr(group.parameters.size(), -learning_rate);
    at::_foreach_addcmul_(group.states[sum], group.gradients, group.gradients, 1);
    std = at::_foreach_sqrt(group.states[sum]);
    at::_foreach_add_(std, epsilon);
    numerator = at::_foreach_mul(group.gradients, minus_clr);
    at::_foreach_addcdiv_(group.parameters, numerator, std);
  }
}

// _fused_adagrad. If gradients are not finite, the counters are decremented again.
void fused(const OptimizerTensors& tensors, const FusedScaling& scaling) {
  for (const OptimizerTensors& group : by_dtype(tensors)) {
    at::_foreach_add_(group.states[step], 1);
    at::_fused_adagrad_(group.parameters, group.gradients, group.states[sum], group.states[step],
                        learning_rate, /*lr_decay=*/0.0, /*weight_decay=*/0.0, epsilon,
                        /*maximize=*/false, scaling.grad_scale, scaling.found_inf);
    if (scaling.found_inf)
      at::_foreach_sub_(group.states[step], Tensors(group.states[step].size(), *scaling.found_inf));
  }
}

constexpr OptimizerRule rows[] = {{.optimizer = Optimizer::adagrad,
                                   .make_states = make_states,
                                   .single = single,
                                   .foreach = foreach,
                                   .fused = fused,
                                   .states_made = StatesMade::with_optimizer}};

}  // namespace
}  // namespace adagrad

OptimizerRules adagrad_rules() { return adagrad::rows; }

}  // namespace symprof::shape
