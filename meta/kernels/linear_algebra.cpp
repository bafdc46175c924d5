// Factorizations, least squares and distances (native/LinearAlgebra.cpp, BatchLinearAlgebra.cpp,
// native/Distance.cpp). LAPACK-style results are column-major.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

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
  TORCH_CHECK(sizes.size() >= 2, "found a tensor of size ", sizes, ", wanted a matrix or more");
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
  TORCH_CHECK(self.dim() == 2, "trace: found a tensor of size ", self.sizes(), ", wanted a matrix");
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

// Resizes a broadcast `self`; other operators refuse that in place.
Tensor& add_sum_of_products(Tensor& self, const Tensor& a, const Tensor& b, const Scalar&,
                            const Scalar&) {
  check_batches(a, b);
  self.resize_({a.size(1), b.size(2)});
  return self;
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

// Q is the product of the reflectors in the columns of `self`.
Tensor multiply_by_q(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool) {
  TORCH_CHECK(self.dim() >= 2 && self.dim() == other.dim() && tau.dim() == self.dim() - 1,
              "ormqr: found sizes ", self.sizes(), ", ", tau.sizes(), " and ", other.sizes(),
              ", wanted two matrices or batches of them, and a vector for each");
  const int64_t order = other.size(left ? -2 : -1);
  TORCH_CHECK(!at::isIntegralType(self.scalar_type(), /*includeBool=*/true), "ormqr: found ",
              self.scalar_type(), ", wanted a floating-point or complex dtype");
  TORCH_CHECK(order == self.size(-2) && order >= tau.size(-1), "ormqr: found ", self.size(-2),
              " rows, ", tau.size(-1), " reflectors and a side of ", order);
  return column_major(other.sizes(), other);
}

Two eigen(const Tensor& self) {
  const auto dtype = c10::toComplexType(self.scalar_type());
  return {fresh(without_last(self, self.size(-1)), self, dtype),
          column_major(self.sizes(), self, dtype)};
}

Tensor eigenvalues(const Tensor& self) { return std::get<0>(eigen(self)); }

Tensor& eigenvalues_into(const Tensor& self, Tensor& out) {
  TORCH_CHECK(self.dim() >= 2, "linalg.eigvals: found a tensor of size ", self.sizes(),
              ", wanted a matrix or more");
  return resize_into(out, without_last(self, self.size(-1)));
}

// cuSOLVER leaves V as its conjugate transpose, row by row; LAPACK column by column.
std::tuple<Tensor, Tensor, Tensor> singular_values(const Tensor& self, bool full, bool vectors,
                                                   optional<c10::string_view>) {
  TORCH_CHECK(self.dim() >= 2, "linalg.svd: found a tensor of size ", self.sizes(),
              ", wanted a matrix or more");
  const int64_t rows = self.size(-2), columns = self.size(-1), rank = std::min(rows, columns);
  const Tensor values =
      fresh(without_last(self, rank), self, c10::toRealValueType(self.scalar_type()));
  if (!vectors) return {fresh({0}, self), values, fresh({0}, self)};
  auto left = without_last(self, rows), right = without_last(self, full ? columns : rank);
  left.push_back(full ? rows : rank);
  right.push_back(columns);
  return {column_major(left, self), values, fresh(right, self)};
}

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

// ---- Least squares

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// The right-hand side is a vector, or one vector for each matrix of a batch
// (linalg_solve_is_vector_rhs in native/LinearAlgebraUtils.h).
bool is_vector_side(const Tensor& self, const Tensor& side) {
  return side.dim() == 1 || (self.dim() - 1 == side.dim() &&
                             side.sizes().equals(self.sizes().slice(0, self.dim() - 1)));
}

// CUDA has one driver, gels: it assumes full rank and returns no ranks or singular values. The
// solution is the upper part of the right-hand side, which has max(m, n) rows.
Four least_squares(const Tensor& self, const Tensor& other, optional<double>,
                   optional<c10::string_view> driver) {
  TORCH_CHECK(!driver || *driver == "gels", "linalg.lstsq: found driver ", driver.value_or(""),
              ", wanted gels, the only one on CUDA");
  TORCH_CHECK(self.dim() >= 2 && other.dim() >= 1, "linalg.lstsq: found sizes ", self.sizes(),
              " and ", other.sizes(), ", wanted a matrix and a vector or more");
  const bool is_vector = is_vector_side(self, other);
  const Tensor side = is_vector ? other.unsqueeze(-1) : other;
  const int64_t rows = self.size(-2), columns = self.size(-1);
  TORCH_CHECK(side.size(-2) == rows, "linalg.lstsq: found a right-hand side of size ",
              other.sizes(), ", wanted ", rows, " rows");
  auto sizes =
      infer_size(self.sizes().slice(0, self.dim() - 2), side.sizes().slice(0, side.dim() - 2));
  auto residual_sizes = sizes;
  if (!is_vector) residual_sizes.push_back(side.size(-1));
  sizes.push_back(std::max(rows, columns));
  sizes.push_back(side.size(-1));
  const Tensor solution = column_major(sizes, self).narrow(-2, 0, columns);
  const auto real = c10::toRealValueType(self.scalar_type());
  return {is_vector ? solution.squeeze(-1) : solution,
          rows > columns ? fresh(residual_sizes, self, real) : fresh({0}, self, real),
          fresh({0}, self, at::kLong), fresh({0}, self, real)};
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
  const auto is_empty = [](int64_t size) { return size == 0; };
  if (std::any_of(sizes.begin(), sizes.end(), is_empty) || x2.size(-2) == 0)
    return contiguous_like(x1);
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
  library.impl("addbmm_", &add_sum_of_products);
  library.impl("_cholesky_solve_helper", &cholesky_solve);
  library.impl("geqrf", &qr_factors);
  library.impl("linalg_householder_product", &householder_product);
  library.impl("ormqr", &multiply_by_q);
  library.impl("linalg_eig", &eigen);
  library.impl("_linalg_eigvals", &eigenvalues);
  library.impl("_linalg_svd", &singular_values);
  library.impl("linalg_eigvals.out", &eigenvalues_into);
  library.impl("linalg_lstsq", &least_squares);
  library.impl("linalg_matrix_exp", &matrix_exponential);
  library.impl("linalg_solve_triangular", &solve_triangular);
  library.impl("_compute_linear_combination", &linear_combination);
  library.impl("_cdist_forward", &pairwise_distances);
  library.impl("_cdist_backward", &pairwise_distances_backward);
  library.impl("_pdist_forward", &own_distances);
  library.impl("_pdist_backward", &own_distances_backward);
}

}  // namespace symprof::kernels
