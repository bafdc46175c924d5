// torch/optim/rmsprop.py, with its default hyperparameters: not centered, no momentum.
#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace rmsprop {
namespace {

enum State : std::size_t { square_avg };

constexpr double learning_rate = 1e-2, alpha = 0.99, epsilon = 1e-8;

void make_states(OptimizerTensors& tensors, OptimizerVariant) {
  Tensors& averages = tensors.states.emplace_back();
  for (const at::Tensor& parameter : tensors.parameters) averages.push_back(state_like(parameter));
}

// _single_tensor_rmsprop. `average` lives until the next parameter rebinds it.
void single(const OptimizerTensors& tensors) {
  at::Tensor average;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    const at::Tensor parameter = as_real(tensors.parameters[i]);
    const at::Tensor gradient = as_real(tensors.gradients[i]);
    const at::Tensor squares = as_real(tensors.states[square_avg][i]);
    squares.mul_(alpha).addcmul_(gradient, gradient, 1 - alpha);
    average = squares.sqrt();
    average.add_(epsilon);
    parameter.addcdiv_(gradient, average, -learning_rate);
  }
}

// _multi_tensor_rmsprop. A group's averages live until the next group rebinds their variable.
void foreach (const OptimizerTensors& tensors) {
  Tensors averages;
  for (OptimizerTensors& group : by_dtype(tensors)) {
    view_as_real(group);
    at::_foreach_mul_(group.states[square_avg], alpha);
    at::_foreach_addcmul_(group.states[square_avg], group.gradients, group.gradients, 1 - alpha);
    averages = at::_foreach_sqrt(group.states[square_avg]);
    at::_foreach_add_(averages, epsilon);
    at::_foreach_addcdiv_(group.parameters, group.gradients, averages, -learning_rate);
  }
}

constexpr OptimizerRule rows[] = {{Optimizer::rmsprop, make_states, single, foreach}};

}  // namespace
}  // namespace rmsprop

OptimizerRules rmsprop_rules() { return rmsprop::rows; }

}  // namespace symprof::shape
