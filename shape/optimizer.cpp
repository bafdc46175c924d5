#include "shape/optimizer.h"

#include <ATen/ATen.h>

#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

using Tensors = std::vector<at::Tensor>;

// PyTorch's defaults (torch/optim/adam.py, sgd.py); values change no cost.
constexpr double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, momentum = 0.9;
constexpr double decoupled_weight_decay = 1e-2;
constexpr double bias_correction1 = 1 - beta1, bias_correction2_sqrt = 0.0316227766;

bool is_adam(Optimizer optimizer) {
  return optimizer == Optimizer::adam || optimizer == Optimizer::adamw;
}

Tensors gradients_of(const Tensors& parameters) {
  Tensors gradients;
  gradients.reserve(parameters.size());
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

// torch/optim/sgd.py, _single_tensor_sgd.
void sgd_single(const Tensors& parameters, const Tensors& gradients, OptimizerState& state) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor update = gradients[i];
    if (!state.momentum.empty()) {
      state.momentum[i].mul_(momentum).add_(gradients[i], 1);
      update = state.momentum[i];
    }
    parameters[i].add_(update, -learning_rate);
  }
}

// torch/optim/sgd.py, _multi_tensor_sgd.
void sgd_foreach(const Tensors& parameters, const Tensors& gradients, OptimizerState& state) {
  if (state.momentum.empty()) return at::_foreach_add_(parameters, gradients, -learning_rate);
  at::_foreach_mul_(state.momentum, momentum);
  at::_foreach_add_(state.momentum, gradients, 1);
  at::_foreach_add_(parameters, state.momentum, -learning_rate);
}

// torch/optim/adam.py, _single_tensor_adam. As in Python, `denominator` of one parameter lives
// until that of the next is bound.
void adam_single(const Tensors& parameters, const Tensors& gradients, OptimizerState& state,
                 bool decoupled) {
  at::Tensor denominator;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (decoupled) parameters[i].mul_(1 - learning_rate * decoupled_weight_decay);
    state.exp_avg[i].lerp_(gradients[i], 1 - beta1);
    state.exp_avg_sq[i].mul_(beta2).addcmul_(gradients[i], gradients[i], 1 - beta2);
    denominator = (state.exp_avg_sq[i].sqrt() / bias_correction2_sqrt).add_(epsilon);
    parameters[i].addcdiv_(state.exp_avg[i], denominator, -learning_rate / bias_correction1);
  }
}

// torch/optim/adam.py, _multi_tensor_adam.
void adam_foreach(const Tensors& parameters, const Tensors& gradients, OptimizerState& state,
                  bool decoupled) {
  const std::vector<at::Scalar> corrections(parameters.size(), bias_correction2_sqrt);
  const std::vector<at::Scalar> step_sizes(parameters.size(), -learning_rate / bias_correction1);
  if (decoupled) at::_foreach_mul_(parameters, 1 - learning_rate * decoupled_weight_decay);
  at::_foreach_lerp_(state.exp_avg, gradients, 1 - beta1);
  at::_foreach_mul_(state.exp_avg_sq, beta2);
  at::_foreach_addcmul_(state.exp_avg_sq, gradients, gradients, 1 - beta2);
  Tensors denominators = at::_foreach_sqrt(state.exp_avg_sq);
  at::_foreach_div_(denominators, corrections);
  at::_foreach_add_(denominators, epsilon);
  at::_foreach_addcdiv_(parameters, state.exp_avg, denominators, step_sizes);
}

// torch/optim/adam.py, _fused_adam.
void adam_fused(const Tensors& parameters, const Tensors& gradients, OptimizerState& state,
                bool decoupled) {
  at::_foreach_add_(state.step, 1);
  if (decoupled)
    at::_fused_adamw_(parameters, gradients, state.exp_avg, state.exp_avg_sq, {}, state.step,
                      learning_rate, beta1, beta2, decoupled_weight_decay, epsilon, false, false);
  else
    at::_fused_adam_(parameters, gradients, state.exp_avg, state.exp_avg_sq, {}, state.step,
                     learning_rate, beta1, beta2, 0.0, epsilon, false, false);
}

}  // namespace

OptimizerState make_state(const Tensors& parameters, Optimizer optimizer,
                          OptimizerVariant variant) {
  OptimizerState state;
  const auto zeros_like = [](const at::Tensor& parameter) {
    return meta::make_fake(meta::spec_of(parameter));
  };
  for (const at::Tensor& parameter : parameters) {
    if (optimizer == Optimizer::sgd_momentum) state.momentum.push_back(zeros_like(parameter));
    if (!is_adam(optimizer)) continue;
    if (variant == OptimizerVariant::fused)
      state.step.push_back(meta::make_fake({DType::float32, {}, {}, 0}));
    state.exp_avg.push_back(zeros_like(parameter));
    state.exp_avg_sq.push_back(zeros_like(parameter));
  }
  return state;
}

void step(const Tensors& parameters, OptimizerState& state, Optimizer optimizer,
          OptimizerVariant variant) {
  const at::NoGradGuard no_grad;
  const Tensors gradients = gradients_of(parameters);
  const bool decoupled = optimizer == Optimizer::adamw;
  if (is_adam(optimizer)) {
    switch (variant) {
      case OptimizerVariant::single:
        return adam_single(parameters, gradients, state, decoupled);
      case OptimizerVariant::foreach:
        return adam_foreach(parameters, gradients, state, decoupled);
      case OptimizerVariant::fused:
        return adam_fused(parameters, gradients, state, decoupled);
    }
  }
  if (variant == OptimizerVariant::fused)
    return at::_fused_sgd_(parameters, gradients, state.momentum, 0.0, momentum, learning_rate, 0.0,
                           false, false, false);
  if (variant == OptimizerVariant::single) return sgd_single(parameters, gradients, state);
  sgd_foreach(parameters, gradients, state);
}

}  // namespace symprof::shape
