// Makes a CPU build of LibTorch believe that there is a CUDA device, as far as fake tensors need
// it.
#pragma once

#include <cstdint>

namespace symprof::meta {

/// Whether LibTorch's CUDA library is loaded (base/cuda_kernels.h). Then its device guard, hooks
/// and kernels stay, for real tensors, and a simulation has only its own answers.
bool has_cuda_kernels();

/// Installs the answer to "which attention backend" and checks that the simulated device guard and
/// CUDA hooks are in place. Once per process; where has_cuda_kernels(), the real ones stay.
void simulate_device();

/// The id of this thread's current stream on the simulated device; 0: the default one.
std::int64_t current_stream();

/// torch.backends.cudnn.benchmark.
bool times_convolutions();

}  // namespace symprof::meta
