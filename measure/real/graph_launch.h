// What a kernel in a CUDA graph costs a GPU.
#pragma once

#include <c10/core/Device.h>

#include <optional>

namespace symprof::measure::real {

/// Microseconds of the device for each of many kernels that do nothing, in a graph on a stream of
/// its own. Empty where the device has no graphs. Nothing should be recorded meanwhile:
/// records keep the nodes of a graph apart.
std::optional<double> graph_launch_us(c10::Device device);

}  // namespace symprof::measure::real
