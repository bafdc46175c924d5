// Whether this process wants LibTorch's CUDA kernels. LibTorch registers its answers about CUDA
// when its library is loaded, and symprof's simulated ones would be in their way: so it is to be
// known before LibTorch is there.
//
// Public header.
#pragma once

namespace symprof {

/// From here on LibTorch is loaded with its CUDA library where its folder has one. Without effect
/// where LibTorch is loaded.
void want_cuda_kernels();

bool are_cuda_kernels_wanted();

}  // namespace symprof
