// torch/optim/{adam,adamw}.py, with their default hyperparameters: AdamW is Adam with a decoupled
// weight decay of 0.01. Step counters are in host memory, except for the fused variant.
#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace adam {
namespace {

enum State : std::size_t { exp_avg, exp_avg_sq, step };

enum class Decay { absent, decoupled };

// Values do not affect cost; the bias corrections are those of the first step.
constexpr double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
constexpr double weight_decay = 1e-2;
constexpr double bias_correction1 = 1 - beta1, bias_correction2_sqrt = 0.0316227766;

void make_states(OptimizerTensors& tensors, OptimizerVariant variant) {
  tensors.states.resize(variant == OptimizerVariant::fused ? 3 : 2);
  for (const at::Tensor& parameter : tensors.parameters) {
    if (variant == OptimizerVariant::fused)
      tensors.states[step].push_back(state_of({}, at::kFloat));
    tensors.states[exp_avg].push_back(state_like(parameter));
    tensors.states[exp_avg_sq].push_back(state_like(parameter));
  }
}

// exp_avg_sq.sqrt() / correction: the root is released once the quotient exists.
at::Tensor corrected_root(const at::Tensor& second) {
  const at::Tensor root = second.sqrt();
  return root / bias_correction2_sqrt;
}

// _single_tensor_adam. `denominator` lives until the next parameter rebinds it.
template <Decay decay>
void single(const OptimizerTensors& tensors) {
  at::Tensor denominator;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    if (decay == Decay::decoupled) tensors.parameters[i].mul_(1 - learning_rate * weight_decay);
    const at::Tensor gradient = as_real(tensors.gradients[i]);
    const at::Tensor first = as_real(tensors.states[exp_avg][i]);
    const at::Tensor second = as_real(tensors.states[exp_avg_sq][i]);
    const at::Tensor parameter = as_real(tensors.parameters[i]);
    first.lerp_(gradient, 1 - beta1);
    second.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
    denominator = corrected_root(second).add_(epsilon);
    parameter.addcdiv_(first, denominator, -learning_rate / bias_correction1);
  }
}

/// Releases a list as Python does: from its end.
void drop(Tensors& list) {
  while (!list.empty()) list.pop_back();
}

// _multi_tensor_adam. A group's roots live until the next group rebinds their variable.
template <Decay decay>
void foreach (const OptimizerTensors& tensors) {
  Tensors roots;
  for (OptimizerTensors& group : by_dtype(tensors)) {
    view_as_real(group);
    const std::size_t count = group.parameters.size();
    const std::vector<at::Scalar> corrections(count, bias_correction2_sqrt);
    const std::vector<at::Scalar> step_sizes(count, -learning_rate / bias_correction1);
    if (decay == Decay::decoupled)
      at::_foreach_mul_(group.parameters, 1 - learning_rate * weight_decay);
    at::_foreach_lerp_(group.states[exp_avg], group.gradients, 1 - beta1);
    at::_foreach_mul_(group.states[exp_avg_sq], beta2);
    at::_foreach_addcmul_(group.states[exp_avg_sq], group.gradients, group.gradients, 1 - beta2);
    Tensors next = at::_foreach_sqrt(group.states[exp_avg_sq]);
    drop(roots);
    roots = std::move(next);
    at::_foreach_div_(roots, corrections);
    at::_foreach_add_(roots, epsilon);
    at::_foreach_addcdiv_(group.parameters, group.states[exp_avg], roots, step_sizes);
  }
  drop(roots);
}

// _fused_adam. If gradients are not finite, the counters are decremented again.
template <Decay decay>
void fused(const OptimizerTensors& tensors, const FusedScaling& scaling) {
  for (const OptimizerTensors& group : by_dtype(tensors)) {
    at::_foreach_add_(group.states[step], 1);
    if (decay == Decay::decoupled)
      at::_fused_adamw_(
          group.parameters, group.gradients, group.states[exp_avg], group.states[exp_avg_sq], {},
          group.states[step], learning_rate, beta1, beta2, weight_decay, epsilon,
          /*amsgrad=*/false, /*maximize=*/false, scaling.grad_scale, scaling.found_inf);
    else
      at::_fused_adam_(
          group.parameters, group.gradients, group.states[exp_avg], group.states[exp_avg_sq], {},
          group.states[step], learning_rate, beta1, beta2, /*weight_decay=*/0.0, epsilon,
          /*amsgrad=*/false, /*maximize=*/false, scaling.grad_scale, scaling.found_inf);
    if (scaling.found_inf)
      at::_foreach_sub_(group.states[step], Tensors(group.states[step].size(), *scaling.found_inf));
  }
}

constexpr OptimizerRule rows[] = {
    {Optimizer::adam, make_states, single<Decay::absent>, foreach<Decay::absent>,
     fused<Decay::absent>},
    {Optimizer::adamw, make_states, single<Decay::decoupled>, foreach<Decay::decoupled>,
     fused<Decay::decoupled>},
};

}  // namespace
}  // namespace adam

OptimizerRules adam_rules() { return adam::rows; }

}  // namespace symprof::shape
