// Dense linear algebra, Fourier transforms and distances. Sources:
// aten/src/ATen/native/Distance.cpp, cuda/DistanceKernel.cu.
#include <algorithm>
#include <utility>

#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/matmul.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

std::int64_t points_of(const TensorSpec& tensor) {
  return tensor.numel() / std::max<std::int64_t>(tensor.sizes.back(), 1);
}

/// The squared norms of points, and ones. The squares are freed once the norms are computed, or
/// once the ones are allocated.
struct Norms {
  std::size_t norms, ones;

  Norms(Scratch& result, const TensorSpec& points, bool keeps_squares, const DeviceSpec& device) {
    const Count bytes = Count(points_of(points)) * element_bytes(points.dtype);
    std::vector<bool> is_reduced(points.sizes.size());
    is_reduced.back() = true;
    const std::size_t squares = result.take(points.bytes());
    norms = result.take(bytes);
    add_reduction(result, sum_of(points, std::move(is_reduced)), device);
    if (!keeps_squares) result.give_back(squares);
    ones = result.take(bytes);
    if (keeps_squares) result.give_back(squares);
  }
};

/// One product computes all distances |a|² + |b|² - 2ab, on points concatenated with their norm and
/// a one (_euclidean_dist).
void add_product(Scratch& result, const TensorSpec& a, const TensorSpec& b,
                 const DeviceSpec& device) {
  const auto widened = [](const TensorSpec& points) {
    return Count(points.bytes()) + Count(2) * points_of(points) * element_bytes(points.dtype);
  };
  const Norms of_a(result, a, false, device), of_b(result, b, false, device);
  const std::size_t doubled = result.take(a.bytes());
  result.take(widened(a));
  for (const std::size_t block : {of_a.ones, of_a.norms, doubled}) result.give_back(block);
  result.take(widened(b));
  for (const std::size_t block : {of_b.norms, of_b.ones}) result.give_back(block);
  result.uses_cublas = true;
}

Scratch euclidean(const Call& call, const DeviceSpec& device) {
  const TensorSpec *a = call.input_at(0), *b = call.input_at(1);
  if (a == nullptr || b == nullptr || a->sizes.empty() || b->sizes.empty())
    return {.is_incomplete = true};
  Scratch result;
  add_product(result, row_major(a->dtype, a->sizes), row_major(b->dtype, b->sizes), device);
  result.make_outputs();
  return result;
}

/// `tensor` broadcast to the batch of `output`, copied if that changes the tensor.
TensorSpec batched(Scratch& result, const TensorSpec& tensor, const TensorSpec& output) {
  TensorSpec whole = row_major(tensor.dtype, output.sizes);
  const std::size_t rank = output.sizes.size(), own = tensor.sizes.size();
  whole.sizes[rank - 2] = tensor.sizes[own - 2];
  whole.sizes[rank - 1] = tensor.sizes[own - 1];
  whole = row_major(whole.dtype, whole.sizes);
  if (whole.numel() != tensor.numel() || !is_row_major(tensor)) result.take(whole.bytes());
  return whole;
}

bool are_points(const TensorSpec* a, const TensorSpec* b, const TensorSpec* output) {
  return a != nullptr && b != nullptr && output != nullptr && a->sizes.size() >= 2 &&
         b->sizes.size() >= 2 && output->sizes.size() >= 2;
}

/// (x1, x2, p, compute_mode). Recordings omit floating-point arguments: p is assumed to be 2, the
/// default, for which many points use a matrix product.
Scratch cdist(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t few_points = 25, always = 1, never = 2, if_many = 0;
  const TensorSpec *a = call.input_at(0), *b = call.input_at(1), *output = call.output(0);
  if (!are_points(a, b, output)) return {.is_incomplete = true};
  Scratch result;
  if (output->numel() == 0) return result;
  const TensorSpec all_a = batched(result, *a, *output), all_b = batched(result, *b, *output);
  const std::int64_t mode = call.integer(3, 0, if_many),
                     rank = static_cast<std::int64_t>(output->sizes.size());
  const auto count = [&](const TensorSpec& points) {
    return points.sizes[static_cast<std::size_t>(rank - 2)];
  };
  const bool are_many = count(all_a) > few_points || count(all_b) > few_points;
  if (mode == always || (mode != never && are_many)) add_product(result, all_a, all_b, device);
  result.make_outputs();
  return result;
}

/// (gradient, x1, x2, p, cdist): contributions of each point of x2 to each of x1, then their sum.
Scratch cdist_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *a = call.input_at(1), *b = call.input_at(2);
  if (!are_points(a, b, gradient)) return {.is_incomplete = true};
  Scratch result;
  if (gradient->numel() == 0 || a->numel() == 0) return result;
  const TensorSpec all_a = batched(result, *a, *gradient);
  batched(result, *b, *gradient);
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  result.make_outputs();
  std::vector<std::int64_t> sizes = gradient->sizes;  // [batch, x2, x1, width]
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  sizes.push_back(a->sizes.back());
  const TensorSpec parts = row_major(a->dtype, sizes);
  result.take(parts.bytes());
  std::vector<bool> is_reduced(sizes.size());
  is_reduced[sizes.size() - 3] = true;
  add_reduction(result, sum_of(parts, std::move(is_reduced)), device);
  return result;
}

/// (gradient, self, p, pdist): contributions of each point to each other.
Scratch pdist_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input_at(1);
  if (self == nullptr || self->sizes.size() != 2) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  result.take(Count(std::max<std::int64_t>(self->sizes[0] - 1, 0)) * self->bytes());
  return result;
}

/// Copies and pointer lists depend on the solver.
Scratch solver(const Call& call, const DeviceSpec& device) {
  Scratch result = cublas(call, device);
  result.is_incomplete = true;
  return result;
}

constexpr ScratchRule linalg_rows[] = {
    {"aten::_cdist_forward", cdist},
    {"aten::_cdist_backward", cdist_backward},
    {"aten::_euclidean_dist", euclidean},
    {"aten::_pdist_backward", pdist_backward},
    {"aten::triangular_solve", solver},
    {"aten::linalg_solve_triangular", solver},
    // A loop of other operators whose length depends on values.
    {"aten::linalg_matrix_exp", unknown_scratch},
    // Workspaces of cuSOLVER, cuBLAS's batched factorizations, MAGMA.
    {"aten::_linalg_det", unknown_scratch},
    {"aten::_linalg_slogdet", unknown_scratch},
    {"aten::linalg_cholesky_ex", unknown_scratch},
    {"aten::cholesky_inverse", unknown_scratch},
    {"aten::_cholesky_solve_helper", unknown_scratch},
    {"aten::linalg_qr", unknown_scratch},
    {"aten::geqrf", unknown_scratch},
    {"aten::ormqr", unknown_scratch},
    {"aten::linalg_lu_factor_ex", unknown_scratch},
    {"aten::linalg_lu", unknown_scratch},
    {"aten::linalg_lu_solve", unknown_scratch},
    {"aten::_linalg_svd", unknown_scratch},
    {"aten::_linalg_eigh", unknown_scratch},
    {"aten::linalg_eig", unknown_scratch},
    {"aten::linalg_eigvals", unknown_scratch},
    {"aten::_linalg_eigvals", unknown_scratch},
    {"aten::_linalg_solve_ex", unknown_scratch},
    {"aten::linalg_inv_ex", unknown_scratch},
    {"aten::linalg_lstsq", unknown_scratch},
    {"aten::linalg_ldl_factor_ex", unknown_scratch},
    {"aten::linalg_ldl_solve", unknown_scratch},
    {"aten::lu_unpack", unknown_scratch},
    // Workspaces of cuFFT.
    {"aten::_fft_r2c", unknown_scratch},
    {"aten::_fft_c2r", unknown_scratch},
    {"aten::_fft_c2c", unknown_scratch},
};

}  // namespace

ScratchRules linalg_scratch() { return linalg_rows; }

}  // namespace symprof::profile
