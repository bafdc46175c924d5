// What NVIDIA's driver says of a GPU, without LibTorch.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace symprof::measure::gpu {

/// As the driver calls GPU `index` of those that CUDA shows: "NVIDIA H200"; empty where it does
/// not say. Throws Error
/// (not_available) where there is no driver or no such GPU.
std::string name_of(int index);

/// Of this moment. Empty where NVML is not there or does not say.
struct State {
  std::string driver_version;  ///< "580.159.04"
  std::optional<double> power_watts;
  std::optional<double> clock_hz;  ///< Of the multiprocessors.
};
State state_of(int index);

/// Of the current context's GPU: what all programs on it hold. Empty where this thread has no
/// context.
std::optional<std::int64_t> used_bytes();

}  // namespace symprof::measure::gpu
