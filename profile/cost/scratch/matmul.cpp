// cuBLAS: every call that gets the thread's handle ensures that it has a workspace
// (aten/src/ATen/cuda/CublasHandlePool.cpp, getCurrentCUDABlasHandle).
#include "profile/cost/scratch/matmul.h"

#include <algorithm>

#include "profile/cost/scratch/families.h"

namespace symprof::profile {

// An empty product returns before it gets a handle (ATen/native/cuda/Blas.cpp).
Scratch cublas(const Call& call, const DeviceSpec&) {
  for (std::size_t i = 0; const TensorSpec* input = call.input(i); ++i)
    if (input->numel() == 0) return {};
  return {.uses_cublas = true};
}

namespace {

/// True if the matrix is copied: cuBLAS requires contiguous rows or columns
/// (prepare_matrix_for_cublas, prepare_batch_matrix_for_cublas).
bool is_copied(const TensorSpec& matrix) {
  const std::size_t last = matrix.sizes.size() - 1, first = last - 1;
  const auto fits = [&](std::size_t fast, std::size_t leading) {
    return matrix.strides[fast] == 1 &&
           matrix.strides[leading] >= std::max<std::int64_t>(1, matrix.sizes[fast]);
  };
  return !fits(first, last) && !fits(last, first);
}

/// A matrix and a vector; an expanded-scalar vector is copied (gemv in ATen/native/Blas.cpp).
Scratch matrix_and_vector(const Call& call, const DeviceSpec& device) {
  Scratch result = cublas(call, device);
  const std::size_t count = call.input_count();
  if (!result.uses_cublas || count < 2) return result;
  const TensorSpec &matrix = *call.input(count - 2), &vector = *call.input(count - 1);
  if (is_copied(matrix)) result.take(matrix.bytes());
  if (vector.strides[0] == 0) result.take(vector.bytes());
  return result;
}

/// The two matrices are the last of the arguments.
Scratch product(const Call& call, const DeviceSpec& device) {
  Scratch result = cublas(call, device);
  const std::size_t count = call.input_count();
  for (std::size_t i = count < 2 ? count : count - 2; result.uses_cublas && i < count; ++i)
    if (const TensorSpec& matrix = *call.input(i); matrix.sizes.size() >= 2 && is_copied(matrix))
      result.take(matrix.bytes());
  return result;
}

/// (bias, mat1, mat2): a bias of one dimension is added by cuBLASLt, unless the second matrix has a
/// size of 1 (isInputCompliesAddmmCudaLt in native/cuda/Blas.cpp).
Scratch with_bias(const Call& call, const DeviceSpec& device) {
  Scratch result = product(call, device);
  const TensorSpec *bias = call.input_at(0), *right = call.input_at(2);
  if (bias == nullptr || right == nullptr || right->sizes.size() != 2) return result;
  result.uses_cublaslt = result.uses_cublas && bias->sizes.size() == 1 && bias->strides[0] == 1 &&
                         right->sizes[0] > 1 && right->sizes[1] > 1;
  return result;
}

/// An 8-bit product, only in cuBLASLt.
Scratch scaled(const Call& call, const DeviceSpec& device) {
  Scratch result = cublas(call, device);
  result.uses_cublaslt = result.uses_cublas;
  return result;
}

/// (self, mat2, offs, …): sizes and pointers per group, and a workspace per multiprocessor, if
/// CUTLASS has the kernel (bf16bf16_grouped_mm in native/cuda/GroupMM.cu); otherwise a loop of
/// products.
Scratch grouped(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t bytes_of_group = 60, bytes_of_multiprocessor = 512;
  const TensorSpec *self = call.input_at(0), *offsets = call.input_at(2);
  if (self == nullptr || offsets == nullptr || call.input_count() != 3)
    return {.is_incomplete = true};
  if (self->dtype != DType::bfloat16) return {.uses_cublas = true};
  if (device.compute_major != 9) return {.is_incomplete = true};
  return {.blocks = {offsets->numel() * bytes_of_group,
                     device.multiprocessors * bytes_of_multiprocessor}};
}

constexpr ScratchRule matmul_rows[] = {
    {"aten::mm", product},
    {"aten::addmm", with_bias},
    {"aten::addmm_", product},
    {"aten::bmm", product},
    {"aten::baddbmm", product},
    {"aten::baddbmm_", product},
    {"aten::addbmm", cublas},
    {"aten::_addmm_activation", with_bias},
    {"aten::addmv", matrix_and_vector},
    {"aten::addmv_", matrix_and_vector},
    {"aten::mv", matrix_and_vector},
    {"aten::dot", cublas},
    {"aten::vdot", cublas},
    {"aten::_scaled_mm", scaled},
    {"aten::_int_mm", cublas},
    {"aten::_grouped_mm", grouped},
    {"transformers::grouped_mm_fallback", cublas},
    {"transformers::grouped_mm_fallback_backward", cublas},
    // A loop of products whose length depends on the sizes.
    {"aten::_trilinear", unknown_scratch},
    // Kernels that only some devices have.
    {"aten::_scaled_grouped_mm", unknown_scratch},
    {"aten::_scaled_mm_v2", unknown_scratch},
};

}  // namespace

ScratchRules matmul_scratch() { return matmul_rows; }

}  // namespace symprof::profile
