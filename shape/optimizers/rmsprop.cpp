// torch/optim/rmsprop.py, with its default hyperparameters: neither centred nor with momentum.
#include <ATen/ATen.h>

#include "shape/optimizers/optimizers.h"

namespace symprof::shape {
namespace {

constexpr double learning_rate = 1e-2, alpha = 0.99, epsilon = 1e-8;

void make_states(OptimizerTensors& tensors, OptimizerVariant) {
  for (const at::Tensor& parameter : tensors.parameters)
    tensors.square_avg.push_back(state_like(parameter));
}

// _single_tensor_rmsprop. `average` of one parameter lives until that of the next is bound.
void single(const OptimizerTensors& tensors) {
  at::Tensor average;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    const at::Tensor& gradient = tensors.gradients[i];
    tensors.square_avg[i].mul_(alpha).addcmul_(gradient, gradient, 1 - alpha);
    average = tensors.square_avg[i].sqrt();
    average.add_(epsilon);
    tensors.parameters[i].addcdiv_(gradient, average, -learning_rate);
  }
}

// _multi_tensor_rmsprop. The averages of one group live until those of the next are bound.
void foreach (const OptimizerTensors& tensors) {
  Tensors averages;
  for (const OptimizerTensors& group : by_dtype(tensors)) {
    at::_foreach_mul_(group.square_avg, alpha);
    at::_foreach_addcmul_(group.square_avg, group.gradients, group.gradients, 1 - alpha);
    averages = at::_foreach_sqrt(group.square_avg);
    at::_foreach_add_(averages, epsilon);
    at::_foreach_addcdiv_(group.parameters, group.gradients, averages, -learning_rate);
  }
}

constexpr OptimizerRule rules[] = {{Optimizer::rmsprop, make_states, single, foreach}};

}  // namespace

OptimizerRules rmsprop_rules() { return rules; }

}  // namespace symprof::shape
