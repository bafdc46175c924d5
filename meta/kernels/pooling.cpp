// Pooling operators without a shape kernel in the C++ build (native/cuda/AdaptiveAveragePooling.cu,
// AdaptiveAveragePooling3d.cu, DilatedMaxPool3d.cu, FractionalMaxPool3d.cu, MaxUnpooling.cu).
#include <ATen/ATen.h>
#include <ATen/native/Pool.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;

// The input's sizes with the last `output_size.size()` dimensions replaced.
std::vector<int64_t> with_spatial(const Tensor& self, IntArrayRef output_size) {
  const auto spatial = static_cast<int64_t>(output_size.size());
  TORCH_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2,
              "pooling: found an input of size ", self.sizes(), ", wanted ", spatial + 1, " or ",
              spatial + 2, " dimensions");
  auto sizes = self.sizes().vec();
  std::copy(output_size.begin(), output_size.end(), sizes.end() - spatial);
  return sizes;
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return fresh_in(with_spatial(self, output_size), self, self.suggest_memory_format());
}

Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  return fresh(with_spatial(self, output_size), self);
}

Tensor adaptive_avg_pool2d_backward(const Tensor&, const Tensor& self) { return format_like(self); }

Tensor adaptive_avg_pool3d_backward(const Tensor&, const Tensor& self) {
  return contiguous_like(self);
}

// Only the batch may be empty.
void check_not_empty(const char* op, const Tensor& self, int64_t spatial) {
  TORCH_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2, op,
              ": found an input of size ", self.sizes(), ", wanted ", spatial + 1, " or ",
              spatial + 2, " dimensions");
  for (int64_t dim = -spatial - 1; dim < 0; ++dim)
    TORCH_CHECK(self.size(dim) > 0, op, ": found an input of size ", self.sizes(),
                ", wanted no empty dimension but the batch");
}

// A list with one entry applies to all three dimensions; an absent stride is the kernel's size.
int64_t entry(IntArrayRef list, int64_t i) { return list.size() == 1 ? list[0] : list[i]; }

Two max_pool3d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode) {
  check_not_empty("max_pool3d", self, 3);
  std::vector<int64_t> pooled;
  for (int64_t i = 0; i < 3; ++i) {
    pooled.push_back(at::native::pooling_output_shape<int64_t>(
        self.size(i - 3), entry(kernel, i), entry(padding, i),
        entry(stride.empty() ? kernel : stride, i), entry(dilation, i), ceil_mode));
  }
  const auto sizes = with_spatial(self, pooled);
  const auto format = self.dim() == 5 ? self.suggest_memory_format() : at::MemoryFormat::Contiguous;
  return {fresh_in(sizes, self, format), at::empty(sizes, self.options().dtype(at::kLong), format)};
}

Tensor max_pool3d_backward(const Tensor&, const Tensor& self, IntArrayRef, IntArrayRef, IntArrayRef,
                           IntArrayRef, bool, const Tensor&) {
  return format_like(self);
}

Tensor fractional_max_pool3d_backward(const Tensor&, const Tensor& self, IntArrayRef, IntArrayRef,
                                      const Tensor&) {
  return contiguous_like(self);
}

void check_unpooling(const Tensor& self, const Tensor& indices) {
  TORCH_CHECK(self.sizes() == indices.sizes() && indices.scalar_type() == at::kLong,
              "max_unpool: found indices of size ", indices.sizes(), " and type ",
              indices.scalar_type(), ", wanted int64 of size ", self.sizes());
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  check_unpooling(self, indices);
  return fresh(with_spatial(self, output_size), self);
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef,
                    IntArrayRef) {
  check_unpooling(self, indices);
  return fresh(with_spatial(self, output_size), self);
}

}  // namespace

void register_pooling(torch::Library& library) {
  library.impl("_adaptive_avg_pool2d", &adaptive_avg_pool2d);
  library.impl("_adaptive_avg_pool2d_backward", &adaptive_avg_pool2d_backward);
  library.impl("_adaptive_avg_pool3d", &adaptive_avg_pool3d);
  library.impl("_adaptive_avg_pool3d_backward", &adaptive_avg_pool3d_backward);
  library.impl("max_pool3d_with_indices", &max_pool3d);
  library.impl("max_pool3d_with_indices_backward", &max_pool3d_backward);
  library.impl("fractional_max_pool3d_backward", &fractional_max_pool3d_backward);
  library.impl("max_unpool2d", &max_unpool2d);
  library.impl("max_unpool3d", &max_unpool3d);
}

}  // namespace symprof::kernels
