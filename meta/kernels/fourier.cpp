// Fourier transforms: cuFFT needs batch dimensions first, in stride order, so outputs are permuted
// (native/cuda/SpectralOps.cpp).
#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;
using Dims = std::vector<int64_t>;

// cuFFT plans have at most three dimensions; more dimensions need another pass.
constexpr std::size_t largest_plan = 3;

void sort_by_stride(Dims& dims, const Tensor& by) {
  std::stable_sort(dims.begin(), dims.end(),
                   [&](int64_t a, int64_t b) { return by.stride(a) > by.stride(b); });
}

// _exec_fft: the output is dense in the order "batch dimensions by stride, then `dims`".
Tensor transform(const Tensor& self, IntArrayRef sizes, IntArrayRef dims, at::ScalarType dtype) {
  Dims order;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) order.push_back(dim);
  }
  sort_by_stride(order, self);
  order.insert(order.end(), dims.begin(), dims.end());
  Dims strides(sizes.size());
  int64_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides[*dim] = stride;
    stride *= sizes[*dim];
  }
  return at::empty_strided(sizes, strides, self.options().dtype(dtype));
}

// Passes over at most three dimensions, innermost first, each on the previous result.
Tensor transform_in_passes(Tensor self, Dims dims) {
  const Dims sizes = self.sizes().vec();
  while (!dims.empty()) {
    sort_by_stride(dims, self);
    const auto taken = std::min(largest_plan, dims.size());
    const Dims last(dims.end() - taken, dims.end());
    self = transform(self, sizes, last, self.scalar_type());
    dims.resize(dims.size() - taken);
  }
  return self;
}

bool takes_one_plan(IntArrayRef dims) {
  return dims.size() <= largest_plan && !(dims.size() >= 2 && dims[0] == 0 && dims[1] == 1);
}

Tensor complex_to_complex(const Tensor& self, IntArrayRef dims, int64_t, bool) {
  return dims.empty() ? self.clone() : transform_in_passes(self, dims.vec());
}

Tensor real_to_complex(const Tensor& self, IntArrayRef dims, int64_t, bool onesided) {
  const auto dtype = c10::toComplexType(self.scalar_type());
  Dims half = self.sizes().vec();
  half[dims.back()] = self.size(dims.back()) / 2 + 1;
  const Dims sizes = onesided ? half : self.sizes().vec();
  if (takes_one_plan(dims)) return transform(self, sizes, dims, dtype);
  // The other half is filled by symmetry, in a new tensor.
  if (!onesided) return fresh(sizes, self, dtype);
  const Tensor first = transform(self, half, dims.slice(dims.size() - 1), dtype);
  return transform_in_passes(first, dims.slice(0, dims.size() - 1).vec());
}

Tensor complex_to_real(const Tensor& self, IntArrayRef dims, int64_t, int64_t last_size) {
  const auto dtype = c10::toRealValueType(self.scalar_type());
  Dims sizes = self.sizes().vec();
  sizes[dims.back()] = last_size;
  if (takes_one_plan(dims)) return transform(contiguous_like(self), sizes, dims, dtype);
  const Tensor first = transform_in_passes(self, dims.slice(0, dims.size() - 1).vec());
  return transform(first, sizes, dims.slice(dims.size() - 1), dtype);
}

}  // namespace

void register_fourier(torch::Library& library) {
  library.impl("_fft_c2c", &complex_to_complex);
  library.impl("_fft_r2c", &real_to_complex);
  library.impl("_fft_c2r", &complex_to_real);
}

}  // namespace symprof::kernels
