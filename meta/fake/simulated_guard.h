// The simulated device for LibTorch's generic code: current device, streams, events.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdint>

namespace symprof::meta {

const c10::impl::DeviceGuardImplInterface& simulated_guard();

/// The id of this thread's current stream on the simulated device; 0: the default one.
std::int64_t current_stream();
/// This thread's current stream is captured into a CUDA graph.
void set_capturing(bool is_capturing);

}  // namespace symprof::meta
