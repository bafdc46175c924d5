// Simulated quantization (native/quantized/FakeQuant*.cpp): the rounded values and, for backward, a
// mask of values in range, one byte per element.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

Two rounded_and_mask(const Tensor& self) {
  return {at::empty_like(self), at::empty_like(self, self.options().dtype(at::kBool))};
}

Two per_tensor(const Tensor& self, double, int64_t, int64_t, int64_t) {
  return rounded_and_mask(self);
}

Two per_tensor_with_parameters(const Tensor& self, const Tensor&, const Tensor&, const Tensor&,
                               int64_t, int64_t) {
  return rounded_and_mask(self);
}

Two per_channel(const Tensor& self, const Tensor&, const Tensor&, int64_t, int64_t, int64_t) {
  return rounded_and_mask(self);
}

Two observed(const Tensor& self, const Tensor&, const Tensor&, Tensor&, Tensor&, Tensor&, Tensor&,
             double, int64_t, int64_t, int64_t, bool, bool) {
  return rounded_and_mask(self);
}

Tensor learned_per_tensor(const Tensor& self, const Tensor&, const Tensor&, int64_t, int64_t,
                          double) {
  return at::empty_like(self);
}

Tensor learned_per_channel(const Tensor& self, const Tensor&, const Tensor&, int64_t, int64_t,
                           int64_t, double) {
  return at::empty_like(self);
}

Three learned_per_tensor_backward(const Tensor&, const Tensor& self, const Tensor& scale,
                                  const Tensor& zero_point, int64_t, int64_t, double) {
  return {at::empty_like(self), contiguous_like(scale), contiguous_like(zero_point)};
}

Three learned_per_channel_backward(const Tensor&, const Tensor& self, const Tensor& scale,
                                   const Tensor& zero_point, int64_t, int64_t, int64_t, double) {
  return {at::empty_like(self), contiguous_like(scale), contiguous_like(zero_point)};
}

}  // namespace

void register_quantization(torch::Library& library) {
  library.impl("fake_quantize_per_tensor_affine_cachemask", &per_tensor);
  library.impl("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
               &per_tensor_with_parameters);
  library.impl("fake_quantize_per_channel_affine_cachemask", &per_channel);
  library.impl("_fused_moving_avg_obs_fq_helper", &observed);
  library.impl("_fake_quantize_learnable_per_tensor_affine", &learned_per_tensor);
  library.impl("_fake_quantize_learnable_per_channel_affine", &learned_per_channel);
  library.impl("_fake_quantize_learnable_per_tensor_affine_backward", &learned_per_tensor_backward);
  library.impl("_fake_quantize_learnable_per_channel_affine_backward",
               &learned_per_channel_backward);
}

}  // namespace symprof::kernels
