// Makes a CPU build of LibTorch believe that there is a CUDA device, as far as fake tensors need
// it.
#pragma once

#include <cstdint>

namespace symprof::meta {

/// Installs the answer to "which attention backend" and checks that the simulated device guard and
/// CUDA hooks are in place. Once per process; in a CUDA build the real guard and hooks stay.
void simulate_device();

/// The id of this thread's current stream on the simulated device; 0: the default one.
std::int64_t current_stream();

/// torch.backends.cudnn.benchmark.
bool times_convolutions();

}  // namespace symprof::meta
