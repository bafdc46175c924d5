// Whether this process needs LibTorch's CUDA kernels. LibTorch registers its CUDA hooks when its
// library is loaded, and symprof's simulated hooks would conflict with them: so the choice is made
// before LibTorch is loaded.
//
// Public header.
#pragma once

namespace symprof {

/// From here on LibTorch is loaded with its CUDA library, if its folder has one. No effect if
/// LibTorch is already loaded.
void want_cuda_kernels();

bool are_cuda_kernels_wanted();

}  // namespace symprof
