#include "shape/recipe/clip_gradients.h"

#include <ATen/ATen.h>

#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace {

constexpr double max_norm = 1.0, epsilon = 1e-6;

// _get_total_norm: the norm of the norms.
at::Tensor total_norm(const std::vector<OptimizerTensors>& groups) {
  Tensors norms;
  for (const OptimizerTensors& group : groups)
    for (at::Tensor& norm : at::_foreach_norm(group.parameters, 2))
      norms.push_back(std::move(norm));
  return at::linalg_vector_norm(at::stack(norms), 2);
}

// `max_norm / (norm + 1e-6)`: Python's division of a number by a tensor takes the reciprocal of the
// sum; the sum and the reciprocal live until the quotient is computed.
at::Tensor coefficient(const at::Tensor& norm) {
  const at::Tensor sum = norm + epsilon;
  const at::Tensor reciprocal = sum.reciprocal();
  return reciprocal * max_norm;
}

}  // namespace

void clip_grad_norm(const Tensors& gradients) {
  if (gradients.empty()) return;
  const at::NoGradGuard no_grad;
  const std::vector<OptimizerTensors> groups = by_dtype({.parameters = gradients});
  const at::Tensor norm = total_norm(groups);
  const at::Tensor exact = coefficient(norm);
  const at::Tensor clamped = exact.clamp(std::nullopt, 1.0);
  for (const OptimizerTensors& group : groups) at::_foreach_mul_(group.parameters, clamped);
}

}  // namespace symprof::shape
