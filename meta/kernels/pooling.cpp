// Pooling whose C++ build has no shape kernel (native/cuda/AdaptiveAveragePooling.cu,
// AdaptiveAveragePooling3d.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;

// The last `output_size.size()` dimensions replaced.
std::vector<int64_t> pooled_sizes(const Tensor& self, IntArrayRef output_size) {
  const auto spatial = static_cast<int64_t>(output_size.size());
  TORCH_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2,
              "adaptive_avg_pool: found an input of size ", self.sizes(), ", wanted ", spatial + 1,
              " or ", spatial + 2, " dimensions");
  auto sizes = self.sizes().vec();
  std::copy(output_size.begin(), output_size.end(), sizes.end() - spatial);
  return sizes;
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return fresh_in(pooled_sizes(self, output_size), self, self.suggest_memory_format());
}

Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  return fresh(pooled_sizes(self, output_size), self);
}

Tensor adaptive_avg_pool2d_backward(const Tensor&, const Tensor& self) { return format_like(self); }

Tensor adaptive_avg_pool3d_backward(const Tensor&, const Tensor& self) {
  return contiguous_like(self);
}

}  // namespace

void register_pooling(torch::Library& library) {
  library.impl("_adaptive_avg_pool2d", &adaptive_avg_pool2d);
  library.impl("_adaptive_avg_pool2d_backward", &adaptive_avg_pool2d_backward);
  library.impl("_adaptive_avg_pool3d", &adaptive_avg_pool3d);
  library.impl("_adaptive_avg_pool3d_backward", &adaptive_avg_pool3d_backward);
}

}  // namespace symprof::kernels
