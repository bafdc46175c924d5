// Lion of the package lion-pytorch (lion_pytorch/lion_pytorch.py, `update_fn`), with its default
// hyperparameters: the weight decay multiplies by 1.
#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace lion {
namespace {

enum State : std::size_t { exp_avg };

constexpr double learning_rate = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0.0;

void make_states(OptimizerTensors& tensors, OptimizerVariant) {
  Tensors& averages = tensors.states.emplace_back();
  for (const at::Tensor& parameter : tensors.parameters) averages.push_back(state_like(parameter));
}

void update_one(const at::Tensor& parameter, const at::Tensor& gradient,
                const at::Tensor& average) {
  parameter.mul_(1 - learning_rate * weight_decay);
  at::Tensor update = average.clone();
  update.mul_(beta1);
  update = update.add(gradient, 1 - beta1);
  update.sgn_();
  parameter.add_(update, -learning_rate);
  average.mul_(beta2).add_(gradient, 1 - beta2);
}

void single(const OptimizerTensors& tensors) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i)
    update_one(tensors.parameters[i], tensors.gradients[i], tensors.states[exp_avg][i]);
}

constexpr OptimizerRule rows[] = {{Optimizer::lion, make_states, single}};

}  // namespace
}  // namespace lion

OptimizerRules lion_rules() { return lion::rows; }

}  // namespace symprof::shape
