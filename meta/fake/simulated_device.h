// Simulates a CUDA device for LibTorch, as far as fake tensors need it.
#pragma once

namespace symprof::meta {

/// Installs the answer to "which attention backend", the simulated device's guard and its hooks,
/// where they are not in place.
void simulate_device();

/// torch.backends.cudnn.benchmark.
bool times_convolutions();

/// Switches for rounding fp32 numbers to TF32 in libraries: torch.set_float32_matmul_precision and
/// torch.backends.cudnn.allow_tf32.
struct Tf32Switches {
  bool products = false, convolutions = true, recurrent = true;
};
Tf32Switches tf32_switches();

}  // namespace symprof::meta
