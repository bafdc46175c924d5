#include "shape/recipe/grad_scaler.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"

namespace symprof::shape {
namespace {

constexpr double growth_factor = 2.0, backoff_factor = 0.5;
constexpr std::int64_t growth_interval = 2000;

at::Tensor scalar(double value, c10::Device device) {
  return at::full({}, value, at::TensorOptions().dtype(at::kFloat).device(device));
}

/// The result of _MultiDeviceReplicator: a copy, also on the tensor's own device.
at::Tensor replica(const at::Tensor& tensor) {
  return tensor.to(tensor.options(), /*non_blocking=*/true, /*copy=*/true);
}

void refuse_fp16(const Tensors& gradients) {
  const auto is_fp16 = [](const at::Tensor& tensor) { return tensor.scalar_type() == at::kHalf; };
  if (std::ranges::none_of(gradients, is_fp16)) return;
  throw Error(SettingRef{"grad_scaler"},
              "PyTorch's GradScaler does not unscale gradients in fp16, which parameters in fp16 "
              "have; it wants them in fp32.",
              "Run parameters in fp32 under " + setting("autocast", "fp16") + ", or add " +
                  setting("master_weights") + ".");
}

/// Groups in the order of each dtype's first appearance, as in Python's dict.
std::vector<Tensors> by_first_dtype(const Tensors& tensors) {
  std::vector<Tensors> groups;
  for (const at::Tensor& tensor : tensors) {
    const auto same = [&](const Tensors& group) {
      return group.front().scalar_type() == tensor.scalar_type();
    };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.insert(groups.end(), Tensors());
    group->push_back(tensor);
  }
  return groups;
}

}  // namespace

GradScaler::GradScaler()
    : scale_(state_of({}, at::kFloat)), growth_tracker_(state_of({}, at::kInt)) {}

void GradScaler::set_scale(double scale) { scale_.fill_(scale); }

bool GradScaler::found_inf() const { return found_inf_.item<float>() != 0; }

Tensors GradScaler::scale(const Tensors& outputs) const {
  if (outputs.size() == 1) return {outputs.front() * scale_};
  const at::Tensor copy = replica(scale_);
  Tensors scaled;
  for (const at::Tensor& output : outputs) scaled.push_back(output * copy);
  return scaled;
}

// _unscale_grads_. Returns the copy of `found_inf` that the kernel wrote.
at::Tensor GradScaler::check_and_unscale(const Tensors& gradients, const at::Tensor& inverse_scale,
                                         const at::Tensor& found_inf) const {
  at::Tensor found, inverse;
  for (const Tensors& group : by_first_dtype(gradients)) {
    if (!found.defined()) {
      found = replica(found_inf);
      inverse = replica(inverse_scale);
    }
    at::_amp_foreach_non_finite_check_and_unscale_(group, found, inverse);
  }
  return found;
}

void GradScaler::unscale(const Tensors& gradients) {
  refuse_fp16(gradients);
  // The reciprocal is computed in fp64; each intermediate is released when the next one exists.
  at::Tensor inverse_scale = scale_.to(at::kDouble);
  inverse_scale = inverse_scale.reciprocal();
  inverse_scale = inverse_scale.to(at::kFloat);
  found_inf_ = check_and_unscale(gradients, inverse_scale, scalar(0.0, scale_.device()));
  is_unscaled_ = true;
}

// _check_inf_per_device.
void GradScaler::check_for_inf(const Tensors& gradients) {
  const at::Tensor inverse_scale = scalar(1.0, scale_.device());
  found_inf_ = check_and_unscale(gradients, inverse_scale, scalar(0.0, scale_.device()));
}

FusedScaling GradScaler::before_step(const Tensors& gradients, OptimizerVariant variant) {
  if (variant != OptimizerVariant::fused) {
    if (!is_unscaled_) unscale(gradients);
    return {};
  }
  if (!is_unscaled_) check_for_inf(gradients);
  FusedScaling scaling;
  scaling.found_inf = found_inf_ + 0;  // Python's sum() over the devices.
  if (!is_unscaled_) scaling.grad_scale = scale_ * 1;
  return scaling;
}

void GradScaler::update() {
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, growth_factor, backoff_factor,
                         growth_interval);
  found_inf_.reset();
  is_unscaled_ = false;
}

}  // namespace symprof::shape
