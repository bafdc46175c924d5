// Chooses whether this process loads LibTorch with its CUDA library. LibTorch registers its CUDA
// hooks when that library is loaded, and they would conflict with symprof's simulated hooks, so the
// choice is made before LibTorch is loaded.
#pragma once

namespace symprof {

/// From here on LibTorch is loaded with its CUDA library, if its folder has one. No effect if
/// LibTorch is already loaded.
void want_cuda_kernels();

bool are_cuda_kernels_wanted();

}  // namespace symprof
