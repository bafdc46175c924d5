// Device time of a kernel launch in a CUDA graph.
#pragma once

#include <c10/core/Device.h>

#include <optional>

namespace symprof::measure::real {

/// Device microseconds per empty kernel in a graph on its own stream. Empty if the device has no
/// graphs. Nothing should be recorded meanwhile: recording separates the nodes of a graph.
std::optional<double> graph_launch_us(c10::Device device);

}  // namespace symprof::measure::real
