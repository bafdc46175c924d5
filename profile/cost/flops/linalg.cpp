// Dense linear algebra, Fourier transforms and distances: the leading term of the usual algorithm.
// Factors from Golub and Van Loan, Matrix Computations (4th edition); an FFT of n points counts 5 n
// log2 n.
#include <algorithm>

#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// (numerator / denominator) · m · n · min(m, n) for each matrix [..., m, n] of argument 0.
template <int numerator, int denominator>
Estimate cubic(const Call& call) {
  const TensorSpec* matrix = call.input_at(0);
  if (!matrix || matrix->sizes.size() < 2) return std::nullopt;
  const std::int64_t shorter = std::min(matrix->sizes.back(), *(matrix->sizes.end() - 2));
  const Count scaled = numerator * elements(*matrix) * shorter;
  return streaming(call, {.other = scaled.value() / denominator});
}

/// Triangular [..., n, n] against right-hand sides [..., n, k]: n²·k.
template <int sides, int factor>
Estimate triangular_solve(const Call& call) {
  const TensorSpec* right = call.input_at(sides);
  if (!right || right->sizes.size() < 2) return std::nullopt;
  return streaming(call, {.other = factor * elements(*right) * *(right->sizes.end() - 2)});
}

/// 2/3 n³ for the factors and 2 n² for each right-hand side.
Estimate solve(const Call& call) {
  const TensorSpec *matrix = call.input_at(0), *right = call.input_at(1);
  if (!matrix || !right || matrix->sizes.size() < 2) return std::nullopt;
  const std::int64_t n = matrix->sizes.back();
  const Count factors = 2 * elements(*matrix) * n;
  return streaming(call, {.other = factors.value() / 3 + 2 * elements(*right) * n});
}

/// Transforms over the dimensions of argument 1: 5 · elements · log2(points of a transform).
Estimate fft(const Call& call) {
  const TensorSpec *in = call.input_at(0), *out = call.output(0);
  if (!in || !out) return std::nullopt;
  // The real tensor has all points, the complex one half of them: use the larger one.
  const TensorSpec& whole = elements(*in) < elements(*out) ? *out : *in;
  const auto rank = static_cast<std::int64_t>(whole.sizes.size());
  Count points = 1;
  for (std::size_t i = 0; static_cast<std::int64_t>(i) < rank; ++i) {
    const std::int64_t dim = call.integer(1, i, rank);
    if (dim < rank && dim >= -rank) points *= whole.sizes[dim < 0 ? dim + rank : dim];
  }
  std::int64_t rounds = 0;
  while (points.value() > 0 && (points.value() - 1) >> rounds) ++rounds;
  return streaming(call, {.other = 5 * rounds * elements(whole)});
}

/// x1 [..., P, M], x2 [..., R, M]: a difference, a power and a sum per pair and dimension.
Estimate distances(const Call& call) {
  const TensorSpec *points = call.input_at(0), *out = call.output(0);
  if (!points || !out || points->sizes.empty()) return std::nullopt;
  return streaming(call, {.other = 3 * elements(*out) * points->sizes.back()});
}

/// (grad, x1, x2, p, cdist)
Estimate distances_backward(const Call& call) {
  const TensorSpec *gradient = call.input_at(0), *points = call.input_at(1);
  if (!gradient || !points || points->sizes.empty()) return std::nullopt;
  return streaming(call, {.other = 4 * elements(*gradient) * points->sizes.back()});
}

constexpr Rule linalg_rows[] = {
    {"aten::linalg_cholesky_ex", cubic<1, 3>, modelled},
    {"aten::cholesky", cubic<1, 3>, modelled},
    {"aten::cholesky_inverse", cubic<2, 3>, modelled},
    {"aten::linalg_lu", cubic<2, 3>, modelled},
    {"aten::linalg_lu_factor_ex", cubic<2, 3>, modelled},
    {"aten::linalg_ldl_factor_ex", cubic<1, 3>, modelled},
    {"aten::_linalg_det", cubic<2, 3>, modelled},
    {"aten::_linalg_slogdet", cubic<2, 3>, modelled},
    {"aten::linalg_inv_ex", cubic<2, 1>, modelled},
    {"aten::linalg_qr", cubic<4, 1>, modelled},
    {"aten::geqrf", cubic<2, 1>, modelled},
    {"aten::linalg_householder_product", cubic<2, 1>, modelled},
    {"aten::_linalg_eigh", cubic<9, 1>, modelled},
    {"aten::linalg_eig", cubic<25, 1>, modelled},
    {"aten::linalg_eigvals", cubic<10, 1>, modelled},
    {"aten::linalg_lstsq", cubic<2, 1>, modelled},
    {"aten::_linalg_svd", cubic<14, 1>, modelled},
    {"aten::linalg_matrix_exp", cubic<16, 1>, modelled},
    {"aten::_linalg_solve_ex", solve, modelled},
    {"aten::linalg_solve_triangular", triangular_solve<1, 1>, modelled},
    {"aten::triangular_solve", triangular_solve<0, 1>, modelled},
    {"aten::cholesky_solve", triangular_solve<0, 2>, modelled},
    {"aten::linalg_lu_solve", triangular_solve<2, 2>, modelled},
    {"aten::linalg_ldl_solve", triangular_solve<2, 2>, modelled},
    {"aten::linalg_cross", per_output<3>},
    {"aten::_fft_c2c", fft, modelled},
    {"aten::_fft_r2c", fft, modelled},
    {"aten::_fft_c2r", fft, modelled},
    {"aten::_cdist_forward", distances, modelled},
    {"aten::_cdist_backward", distances_backward, modelled},
    {"aten::_euclidean_dist", distances, modelled},
    {"aten::_pdist_forward", distances, modelled},
    {"aten::_pdist_backward", distances_backward, modelled},
};

}  // namespace

Rules linalg_rules() { return linalg_rows; }

}  // namespace symprof::profile
