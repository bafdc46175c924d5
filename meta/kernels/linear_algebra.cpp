// Products, factorisations and distances (native/LinearAlgebra.cpp, BatchLinearAlgebra.cpp,
// native/cuda/Blas.cpp, GroupedBlas.cpp, native/Distance.cpp). LAPACK-style results are
// column-major.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::infer_size;
using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;

Tensor column_major(IntArrayRef sizes, const Tensor& like,
                    optional<at::ScalarType> dtype = std::nullopt) {
  auto transposed = sizes.vec();
  std::swap(transposed[transposed.size() - 1], transposed[transposed.size() - 2]);
  return fresh(transposed, like, dtype).mT();
}

Tensor inner_product(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1 && self.numel() == other.numel(),
              "dot: found vectors of size ", self.sizes(), " and ", other.sizes(),
              ", wanted two of one length");
  return fresh({}, self);
}

Tensor trace(const Tensor& self) {
  const bool integral = at::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  return fresh({}, self, integral ? at::kLong : self.scalar_type());
}

void check_batches(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0) && a.size(2) == b.size(1),
              "addbmm: found batches of size ", a.sizes(), " and ", b.sizes(),
              ", wanted [B, n, m] and [B, m, p]");
}

Tensor sum_of_products(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar&,
                       const Scalar&) {
  check_batches(a, b);
  return fresh({a.size(1), b.size(2)}, self);
}

Tensor square_column_major(const Tensor& self, bool) { return column_major(self.sizes(), self); }

Tensor cholesky_solve(const Tensor& self, const Tensor&, bool) {
  return column_major(self.sizes(), self);
}

std::vector<int64_t> without_last(const Tensor& self, int64_t last) {
  auto sizes = self.sizes().slice(0, self.dim() - 2).vec();
  sizes.push_back(last);
  return sizes;
}

Two qr_factors(const Tensor& self) {
  return {column_major(self.sizes(), self),
          fresh(without_last(self, std::min(self.size(-1), self.size(-2))), self)};
}

Tensor householder_product(const Tensor& self, const Tensor&) {
  return column_major(self.sizes(), self);
}

Tensor multiply_by_q(const Tensor&, const Tensor&, const Tensor& other, bool, bool) {
  return column_major(other.sizes(), other);
}

Two eigen(const Tensor& self) {
  const auto dtype = c10::toComplexType(self.scalar_type());
  return {fresh(without_last(self, self.size(-1)), self, dtype),
          column_major(self.sizes(), self, dtype)};
}

Tensor eigenvalues(const Tensor& self) { return std::get<0>(eigen(self)); }

Tensor matrix_exponential(const Tensor& self) { return contiguous_like(self); }

Tensor solve_triangular(const Tensor& self, const Tensor& other, bool, bool, bool) {
  auto sizes =
      infer_size(self.sizes().slice(0, self.dim() - 2), other.sizes().slice(0, other.dim() - 2));
  sizes.push_back(other.size(-2));
  sizes.push_back(other.size(-1));
  return column_major(sizes, self);
}

Tensor linear_combination(const Tensor& input, const Tensor& coefficients) {
  auto sizes = input.sizes().vec();
  sizes[0] = coefficients.size(0);
  return fresh(sizes, input);
}

// ---- Products of low-precision matrices

Tensor integer_product(const Tensor& self, const Tensor& other) {
  return fresh({self.size(0), other.size(1)}, self, at::kInt);
}

Tensor scaled_product(const Tensor& self, const Tensor& other, const Tensor&, const Tensor&,
                      const optional<Tensor>&, const optional<Tensor>&,
                      optional<at::ScalarType> dtype, bool) {
  return fresh({self.size(0), other.size(1)}, self, dtype);
}

Tensor int8_weight_product(const Tensor& self, const Tensor& weight, const Tensor&) {
  return fresh({self.size(0), weight.size(0)}, self);
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

// Groups are ranges of rows (2-D operands, cut at `offsets`) or the first dimension (3-D). Rows of
// the result start at multiples of 16 bytes.
Tensor grouped_product(const Tensor& a, const Tensor& b, const optional<Tensor>& offsets,
                       const optional<Tensor>&, optional<at::ScalarType> dtype) {
  const auto type = dtype.value_or(a.scalar_type());
  std::vector<int64_t> sizes{a.size(-2), b.size(-1)};
  if (a.dim() == b.dim()) {
    TORCH_CHECK(a.dim() == 3 || present(offsets),
                "_grouped_mm: found two matrices without offsets, wanted the ends of the groups");
    sizes.insert(sizes.begin(), a.dim() == 3 ? a.size(0) : offsets->size(0));
  }
  const int64_t per_16_bytes = 16 / static_cast<int64_t>(c10::elementSize(type));
  const int64_t row = (b.size(-1) + per_16_bytes - 1) / per_16_bytes * per_16_bytes;
  std::vector<int64_t> strides{row, 1};
  if (sizes.size() == 3) strides.insert(strides.begin(), a.size(-2) * row);
  return at::empty_strided(sizes, strides, a.options().dtype(type));
}

// ---- Distances

// x1 [..., P, M], x2 [..., R, M]: distances [..., P, R].
Tensor pairwise_distances(const Tensor& x1, const Tensor& x2, double, optional<int64_t>) {
  auto sizes = infer_size(x1.sizes().slice(0, x1.dim() - 2), x2.sizes().slice(0, x2.dim() - 2));
  sizes.push_back(x1.size(-2));
  sizes.push_back(x2.size(-2));
  return fresh(sizes, x1);
}

Tensor pairwise_distances_backward(const Tensor&, const Tensor& x1, const Tensor& x2, double,
                                   const Tensor&) {
  auto sizes = infer_size(x1.sizes().slice(0, x1.dim() - 2), x2.sizes().slice(0, x2.dim() - 2));
  sizes.push_back(x1.size(-2));
  sizes.push_back(x1.size(-1));
  return fresh(sizes, x1);
}

Tensor own_distances(const Tensor& self, double) {
  const int64_t n = self.size(0);
  return fresh({n * (n - 1) / 2}, self);
}

Tensor own_distances_backward(const Tensor&, const Tensor& self, double, const Tensor&) {
  return contiguous_like(self);
}

}  // namespace

void register_linear_algebra(torch::Library& library) {
  for (const char* op : {"dot", "vdot"}) library.impl(op, &inner_product);
  for (const char* op : {"cholesky", "cholesky_inverse"}) library.impl(op, &square_column_major);
  library.impl("trace", &trace);
  library.impl("addbmm", &sum_of_products);
  library.impl("_cholesky_solve_helper", &cholesky_solve);
  library.impl("geqrf", &qr_factors);
  library.impl("linalg_householder_product", &householder_product);
  library.impl("ormqr", &multiply_by_q);
  library.impl("linalg_eig", &eigen);
  library.impl("_linalg_eigvals", &eigenvalues);
  library.impl("linalg_matrix_exp", &matrix_exponential);
  library.impl("linalg_solve_triangular", &solve_triangular);
  library.impl("_compute_linear_combination", &linear_combination);
  library.impl("_int_mm", &integer_product);
  library.impl("_scaled_mm", &scaled_product);
  library.impl("_weight_int8pack_mm", &int8_weight_product);
  library.impl("mm.dtype", &typed_product<>);
  library.impl("bmm.dtype", &typed_product<>);
  library.impl("addmm.dtype", &typed_sum_of_product);
  library.impl("baddbmm.dtype", &typed_sum_of_product);
  library.impl("_grouped_mm", &grouped_product);
  library.impl("_cdist_forward", &pairwise_distances);
  library.impl("_cdist_backward", &pairwise_distances_backward);
  library.impl("_pdist_forward", &own_distances);
  library.impl("_pdist_backward", &own_distances_backward);
}

}  // namespace symprof::kernels
