// LibTorch's CUDA library in this process.
#pragma once

namespace symprof::meta {

/// True if LibTorch's CUDA library is loaded (base/cuda_kernels.h). Then its device guard, hooks
/// and kernels stay, for everything outside of simulations (meta/fake/beside_cuda.h).
bool has_cuda_kernels();

}  // namespace symprof::meta
