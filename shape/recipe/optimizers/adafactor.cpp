// torch/optim/_adafactor.py, with its default hyperparameters. The second moment of a gradient with
// two or more dimensions is kept as factors along the last two. Norms that the host reads
// (`.item()`) decide values, not costs, and cause no calls here.
#include <ATen/ATen.h>

#include <array>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace adafactor {
namespace {

// Vectors have only `variance`, with undefined tensors in the others; all other parameters have
// only `row_var` and `col_var`.
enum State : std::size_t { row_var, col_var, variance };

constexpr double learning_rate = 1e-2, one_minus_beta2 = 1.0, epsilon = 1e-7;

bool is_factored(const at::Tensor& gradient) { return gradient.dim() > 1; }

at::Tensor state_with_one(const at::Tensor& gradient, std::int64_t dimension) {
  std::vector<std::int64_t> sizes = gradient.sizes().vec();
  sizes[static_cast<std::size_t>(gradient.dim() + dimension)] = 1;
  return state_of(sizes, gradient.scalar_type());
}

void make_states(OptimizerTensors& tensors, OptimizerVariant) {
  tensors.states.resize(3);
  for (const at::Tensor& gradient : tensors.gradients) {
    const bool factored = is_factored(gradient);
    tensors.states[row_var].push_back(factored ? state_with_one(gradient, -1) : at::Tensor());
    tensors.states[col_var].push_back(factored ? state_with_one(gradient, -2) : at::Tensor());
    tensors.states[variance].push_back(factored ? at::Tensor() : state_like(gradient));
  }
}

at::Tensor norm_along(const at::Tensor& gradient, std::int64_t dimension) {
  return at::linalg_vector_norm(gradient, 2, dimension, /*keepdim=*/true);
}

/// The norm of a whole tensor, which the host reads and releases.
void read_norm(const at::Tensor& tensor) { at::linalg_vector_norm(tensor, 2); }

/// The loop's variables: each keeps its tensor alive until it is rebound for a later parameter.
struct LoopVariables {
  at::Tensor row_mean, col_mean, grad_squared, var_estimate, update;
};

void divide_by_row_mean(const at::Tensor& var_estimate, const at::Tensor& rows) {
  const at::Tensor mean = rows.mean(-2, /*keepdim=*/true);
  mean.clamp_(epsilon);
  var_estimate.div_(mean);
}

void estimate_factored(LoopVariables& held, const OptimizerTensors& tensors, std::size_t i) {
  const at::Tensor& gradient = tensors.gradients[i];
  const at::Tensor &rows = tensors.states[row_var][i], &columns = tensors.states[col_var][i];
  held.row_mean = norm_along(gradient, -1).square_().div_(gradient.size(-1));
  rows.lerp_(held.row_mean, one_minus_beta2);
  held.col_mean = norm_along(gradient, -2).square_().div_(gradient.size(-2));
  columns.lerp_(held.col_mean, one_minus_beta2);
  held.var_estimate = rows.matmul(columns);
  divide_by_row_mean(held.var_estimate, rows);
}

void estimate_vector(LoopVariables& held, const OptimizerTensors& tensors, std::size_t i) {
  const at::Tensor &gradient = tensors.gradients[i], &squares = tensors.states[variance][i];
  held.grad_squared = gradient * gradient;
  squares.lerp_(held.grad_squared, one_minus_beta2);
  held.var_estimate = squares.clone();
}

// _single_tensor_adafactor.
void single(const OptimizerTensors& tensors) {
  LoopVariables held;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    const at::Tensor &parameter = tensors.parameters[i], &gradient = tensors.gradients[i];
    read_norm(parameter);
    if (is_factored(gradient))
      estimate_factored(held, tensors, i);
    else
      estimate_vector(held, tensors, i);
    held.update = held.var_estimate.clamp_(epsilon * epsilon).rsqrt_();
    held.update.mul_(gradient);
    read_norm(held.update);
    parameter.add_(held.update, -learning_rate);
  }
}

/// Updates the factors with mean squares along a dimension; the means are released afterwards.
void update_factors(const Tensors& gradients, const Tensors& factors, std::int64_t dimension) {
  Tensors means;
  std::vector<at::Scalar> extents;
  for (const at::Tensor& gradient : gradients) {
    means.push_back(norm_along(gradient, dimension));
    extents.emplace_back(gradient.size(dimension));
  }
  at::_foreach_mul_(means, means);
  at::_foreach_div_(means, extents);
  at::_foreach_lerp_(factors, means, std::vector<at::Scalar>(means.size(), one_minus_beta2));
}

Tensors factored_estimates(const OptimizerTensors& group) {
  update_factors(group.gradients, group.states[row_var], -1);
  update_factors(group.gradients, group.states[col_var], -2);
  Tensors estimates, row_means;
  for (std::size_t i = 0; i < group.parameters.size(); ++i)
    estimates.push_back(group.states[row_var][i].matmul(group.states[col_var][i]));
  for (const at::Tensor& rows : group.states[row_var])
    row_means.push_back(rows.mean(-2, /*keepdim=*/true));
  at::_foreach_clamp_min_(row_means, epsilon);
  at::_foreach_div_(estimates, row_means);
  return estimates;
}

Tensors vector_estimates(const OptimizerTensors& group) {
  {
    const Tensors grads_squared = at::_foreach_mul(group.gradients, group.gradients);
    at::_foreach_lerp_(group.states[variance], grads_squared,
                       std::vector<at::Scalar>(grads_squared.size(), one_minus_beta2));
  }
  Tensors estimates;
  for (const at::Tensor& squares : group.states[variance]) estimates.push_back(squares.clone());
  return estimates;
}

void update_group(const OptimizerTensors& group, Tensors& updates) {
  for (const at::Tensor& parameter : group.parameters) read_norm(parameter);
  const bool factored = is_factored(group.gradients.front());
  Tensors estimates = factored ? factored_estimates(group) : vector_estimates(group);
  at::_foreach_clamp_min_(estimates, epsilon * epsilon);
  at::_foreach_rsqrt_(estimates);
  at::_foreach_mul_(estimates, group.gradients);
  updates = std::move(estimates);
  for (const at::Tensor& update : updates) read_norm(update);
  at::_foreach_mul_(updates, std::vector<at::Scalar>(updates.size(), -learning_rate));
  at::_foreach_add_(group.parameters, updates);
}

void append(OptimizerTensors& to, const OptimizerTensors& from, std::size_t i) {
  to.parameters.push_back(from.parameters[i]);
  to.gradients.push_back(from.gradients[i]);
  to.states.resize(from.states.size());
  for (std::size_t state = 0; state < from.states.size(); ++state)
    to.states[state].push_back(from.states[state][i]);
}

/// Groups by dtype, with factored parameters and vectors separate, in order of each kind's first
/// appearance (_group_tensors_by_device_dtype_and_is_multidim).
std::vector<OptimizerTensors> groups_of(const OptimizerTensors& tensors) {
  std::vector<OptimizerTensors> groups;
  for (const OptimizerTensors& of_dtype : by_dtype(tensors)) {
    std::array<std::optional<std::size_t>, 2> place;
    for (std::size_t i = 0; i < of_dtype.parameters.size(); ++i) {
      auto& index = place[is_factored(of_dtype.gradients[i]) ? 1 : 0];
      if (!index) {
        index = groups.size();
        groups.emplace_back();
      }
      append(groups[*index], of_dtype, i);
    }
  }
  return groups;
}

// _multi_tensor_adafactor. A group's updates live until the next group rebinds their variable.
void foreach (const OptimizerTensors& tensors) {
  Tensors updates;
  for (const OptimizerTensors& group : groups_of(tensors)) update_group(group, updates);
}

constexpr OptimizerRule rows[] = {{.optimizer = Optimizer::adafactor,
                                   .make_states = make_states,
                                   .single = single,
                                   .foreach = foreach,
                                   .complex = Complex::refused}};

}  // namespace
}  // namespace adafactor

OptimizerRules adafactor_rules() { return adafactor::rows; }

}  // namespace symprof::shape
