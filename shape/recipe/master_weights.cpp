#include "shape/recipe/master_weights.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace symprof::shape {
namespace {

bool is_half(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

// param.clone().float(): of the parameter's layout.
at::Tensor master_of(const at::Tensor& parameter) {
  at::Tensor master = state_like(parameter, at::kFloat);
  master.set_requires_grad(true);
  return master;
}

}  // namespace

MasterWeights::MasterWeights(const Tensors& parameters) {
  for (const at::Tensor& parameter : parameters) {
    updated_.push_back(is_half(parameter) ? master_of(parameter) : parameter);
    if (!is_half(parameter)) continue;
    model_.push_back(parameter);
    masters_.push_back(updated_.back());
  }
  if (masters_.empty())
    throw Error(SettingRef{"master_weights"},
                "no parameter that is trained is in bf16 or fp16, so there is nothing to keep a "
                "master of.",
                "Give " + setting("dtype", "bf16") + ", or leave it out.");
}

void MasterWeights::take_gradients() const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < model_.size(); ++i) {
    const at::Tensor& gradient = model_[i].grad();
    if (!gradient.defined()) continue;
    masters_[i].mutable_grad() = at::empty(masters_[i].sizes(), masters_[i].options());
    masters_[i].grad().copy_(gradient);
  }
}

void MasterWeights::give_to_model() const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < model_.size(); ++i) model_[i].copy_(masters_[i]);
}

}  // namespace symprof::shape
