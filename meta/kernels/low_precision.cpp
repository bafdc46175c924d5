// Matrix products whose result dtype differs from the elements': integers, 8-bit floats with
// scales, grouped products (native/cuda/Blas.cpp, ScaledBlas.cpp, GroupedBlas.cpp).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/signatures.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using std::optional;

Tensor integer_product(const Tensor& self, const Tensor& other) {
  return fresh({self.size(0), other.size(1)}, self, at::kInt);
}

Tensor int8_weight_product(const Tensor& self, const Tensor& weight, const Tensor&) {
  return fresh({self.size(0), weight.size(0)}, self);
}

/// Integers of 4 bits, packed for the tensor cores (native/cuda/int4mm.cu): [N / 8, K / (16 ·
/// tiles), 32, tiles / 2], eight in each number.
Tensor packed_int4(const Tensor& weight, int64_t tiles) {
  TORCH_CHECK(weight.dim() == 2 && weight.scalar_type() == at::kByte && tiles > 1,
              "_convert_weight_to_int4pack: found ", weight.scalar_type(), " [", weight.sizes(),
              "], wanted a matrix of uint8, two integers in each");
  return fresh({weight.size(0) / 8, weight.size(1) * 2 / (tiles * 16), 32, tiles / 2}, weight,
               at::kInt);
}

Tensor int4_weight_product(const Tensor& self, const Tensor& weight, int64_t, const Tensor&) {
  TORCH_CHECK(self.dim() == 2 && weight.dim() == 4, "_weight_int4pack_mm: found [", self.sizes(),
              "] and [", weight.sizes(), "], wanted a matrix and a packed weight");
  return fresh({self.size(0), weight.size(0) * 8}, self);
}

/// The weight is [K, N] in 8 bits or [K, N / 2] in 4 bits, with a scale per column of N.
Tensor mixed_dtypes_linear(const Tensor& input, const Tensor&, const Tensor& scale,
                           const optional<Tensor>&, optional<c10::string_view>) {
  auto sizes = input.sizes().vec();
  TORCH_CHECK(!sizes.empty(), "_mixed_dtypes_linear: found a number, wanted rows");
  sizes.back() = scale.numel();
  return fresh(sizes, input);
}

Tensor scaled(const Tensor& self, const Tensor& other, optional<at::ScalarType> dtype) {
  TORCH_CHECK(self.dim() == 2 && other.dim() == 2 && self.size(1) == other.size(0),
              "_scaled_mm: found sizes ", self.sizes(), " and ", other.sizes(),
              ", wanted [n, m] and [m, p]");
  return fresh({self.size(0), other.size(1)}, self, dtype);
}

Tensor scaled_product(const Tensor& self, const Tensor& other, const Tensor&, const Tensor&,
                      const optional<Tensor>&, const optional<Tensor>&,
                      optional<at::ScalarType> dtype, bool) {
  return scaled(self, other, dtype);
}

// Scales are lists, with a recipe for their layout.
Tensor scaled_product_by_recipe(const Tensor& self, const Tensor& other, Scales, IntArrayRef,
                                IntArrayRef, Scales, IntArrayRef, IntArrayRef,
                                const optional<Tensor>&, optional<at::ScalarType> dtype,
                                IntArrayRef, bool) {
  return scaled(self, other, dtype);
}

template <typename... Rest>
Tensor typed_product(const Tensor& self, const Tensor& other, at::ScalarType dtype, Rest...) {
  auto sizes = self.sizes().vec();
  sizes.back() = other.size(-1);
  return fresh(sizes, self, dtype);
}

Tensor typed_sum_of_product(const Tensor&, const Tensor& a, const Tensor& b, at::ScalarType dtype,
                            const Scalar&, const Scalar&) {
  return typed_product(a, b, dtype);
}

// Groups are ranges of rows (2-D operands, split at `offsets`) or the first dimension (3-D). Rows
// of the result are aligned to 16 bytes.
Tensor grouped(const Tensor& a, const Tensor& b, const optional<Tensor>& offsets,
               at::ScalarType dtype) {
  std::vector<int64_t> sizes{a.size(-2), b.size(-1)};
  if (a.dim() == b.dim()) {
    TORCH_CHECK(a.dim() == 3 || present(offsets),
                "_grouped_mm: found two matrices without offsets, wanted the ends of the groups");
    sizes.insert(sizes.begin(), a.dim() == 3 ? a.size(0) : offsets->size(0));
  }
  const int64_t per_16_bytes = 16 / static_cast<int64_t>(c10::elementSize(dtype));
  const int64_t row = (b.size(-1) + per_16_bytes - 1) / per_16_bytes * per_16_bytes;
  std::vector<int64_t> strides{row, 1};
  if (sizes.size() == 3) strides.insert(strides.begin(), a.size(-2) * row);
  return at::empty_strided(sizes, strides, a.options().dtype(dtype));
}

Tensor grouped_product(const Tensor& a, const Tensor& b, const optional<Tensor>& offsets,
                       const optional<Tensor>&, optional<at::ScalarType> dtype) {
  return grouped(a, b, offsets, dtype.value_or(a.scalar_type()));
}

// Products of 8-bit floats are bf16 unless another dtype is requested.
Tensor scaled_grouped_product(const Tensor& a, const Tensor& b, const Tensor&, const Tensor&,
                              const optional<Tensor>& offsets, const optional<Tensor>&,
                              const optional<Tensor>&, optional<at::ScalarType> dtype, bool) {
  return grouped(a, b, offsets, dtype.value_or(at::kBFloat16));
}

Tensor scaled_grouped_product_by_recipe(const Tensor& a, const Tensor& b, Scales, IntArrayRef,
                                        IntArrayRef, Scales, IntArrayRef, IntArrayRef,
                                        const optional<Tensor>& offsets, const optional<Tensor>&,
                                        optional<at::ScalarType> dtype, IntArrayRef, bool) {
  return grouped(a, b, offsets, dtype.value_or(at::kBFloat16));
}

}  // namespace

void register_low_precision(torch::Library& library) {
  library.impl("_int_mm", &integer_product);
  library.impl("_weight_int8pack_mm", &int8_weight_product);
  library.impl("_convert_weight_to_int4pack", &packed_int4);
  library.impl("_weight_int4pack_mm", &int4_weight_product);
  library.impl("_mixed_dtypes_linear", &mixed_dtypes_linear);
  library.impl("_scaled_mm", &scaled_product);
  library.impl("_scaled_mm_v2", &scaled_product_by_recipe);
  library.impl("mm.dtype", &typed_product<>);
  library.impl("bmm.dtype", &typed_product<>);
  library.impl("addmm.dtype", &typed_sum_of_product);
  library.impl("baddbmm.dtype", &typed_sum_of_product);
  library.impl("_grouped_mm", &grouped_product);
  library.impl("_scaled_grouped_mm", &scaled_grouped_product);
  library.impl("_scaled_grouped_mm_v2", &scaled_grouped_product_by_recipe);
}

}  // namespace symprof::kernels
