// Facts of a GPU from NVIDIA's driver, without LibTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace symprof::measure::gpu {

/// The driver's name of GPU `index` among those visible to CUDA: "NVIDIA H200"; empty if unknown.
/// Throws Error (not_available) without a driver or such a GPU.
std::string name_of(int index);

/// Current values. Empty without NVML or if it does not report them.
struct State {
  std::string driver_version;  ///< "580.159.04"
  std::optional<double> power_watts;
  std::optional<double> clock_hz;  ///< Of the multiprocessors.
};
State state_of(int index);

/// Memory used by all programs on the current context's GPU. Empty without a context in this
/// thread.
std::optional<std::int64_t> used_bytes();

}  // namespace symprof::measure::gpu
