// cuBLAS: every call that fetches the handle makes sure that its thread's handle has a workspace
// (aten/src/ATen/cuda/CublasHandlePool.cpp, getCurrentCUDABlasHandle).
#include "profile/temporaries/temporaries.h"

namespace symprof::profile {
namespace {

// An empty product returns before it asks for a handle (ATen/native/cuda/Blas.cpp).
Temporaries cublas(const Call& call, const DeviceSpec&) {
  for (std::size_t i = 0; const TensorSpec* input = call.input(i); ++i)
    if (input->numel() == 0) return {};
  return {.uses_cublas = true};
}

constexpr TemporariesRule rows[] = {
    {"aten::mm", cublas},
    {"aten::addmm", cublas},
    {"aten::addmm_", cublas},
    {"aten::bmm", cublas},
    {"aten::baddbmm", cublas},
    {"aten::baddbmm_", cublas},
    {"aten::addbmm", cublas},
    {"aten::_addmm_activation", cublas},
    {"aten::addmv", cublas},
    {"aten::addmv_", cublas},
    {"aten::mv", cublas},
    {"aten::dot", cublas},
    {"aten::vdot", cublas},
    {"aten::_scaled_mm", cublas},
    {"aten::_int_mm", cublas},
    {"aten::triangular_solve", cublas},
    {"aten::linalg_solve_triangular", cublas},
};

}  // namespace

TemporariesRules matmul_temporaries() { return rows; }

}  // namespace symprof::profile
