// Makes LibTorch believe that there is a CUDA device, as far as fake tensors need it.
#pragma once

namespace symprof::meta {

/// Whether LibTorch's CUDA library is loaded (base/cuda_kernels.h). Then its device guard, hooks
/// and kernels stay, for everything outside of simulations (meta/fake/beside_cuda.h).
bool has_cuda_kernels();

/// Installs the answer to "which attention backend", the simulated device's guard and its hooks,
/// where they are not in place.
void simulate_device();

/// torch.backends.cudnn.benchmark.
bool times_convolutions();

/// Where libraries may round fp32 numbers to TF32: torch.set_float32_matmul_precision and
/// torch.backends.cudnn.allow_tf32.
struct Tf32Switches {
  bool products = false, convolutions = true, recurrent = true;
};
Tf32Switches tf32_switches();

}  // namespace symprof::meta
