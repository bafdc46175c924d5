// Single kernels on a real device, for a calibration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/time/kernel.h"

namespace symprof::measure {

/// The device that kernels ran on, and the results of short probes. Empty: unknown.
struct DeviceFacts {
  std::string device;     ///< "cpu", "cuda:0".
  std::string processor;  ///< Name from the system or the driver.
  std::string torch_version, driver_version;
  std::string date;          ///< "2026-11-23"
  std::int64_t threads = 0;  ///< Threads used by CPU operators.
  /// For a CPU: as the members of DeviceSpec.
  std::optional<std::int64_t> memory_bytes, l2_bytes;
  std::optional<double> memory_bytes_per_second;
  std::vector<std::pair<std::string, double>> flops_per_second;  ///< By dtype.
  std::optional<double> clock_hz, power_watts;                   ///< While kernels ran.
  /// Host time of an ATen call with autograd: on a CPU without its kernel, on a GPU with its
  /// launch.
  std::optional<double> host_call_us;
  std::optional<double> launch_us;        ///< The shortest kernel observed.
  std::optional<double> graph_launch_us;  ///< Of an empty kernel in a CUDA graph.
  /// Between two kernels in a full queue; 0 if kernel times include it.
  std::optional<double> kernel_gap_us;
  /// Share of CPU time used by other programs while kernels ran on a CPU.
  std::optional<double> others_share;
  std::optional<std::int64_t> context_bytes;  ///< Memory of the driver's context, besides tensors.
};

class KernelRunner {
 public:
  virtual ~KernelRunner() = default;

  /// Median microseconds of one call with this work: of its kernels on a GPU, of the call on a CPU.
  /// Empty if the device has no operator for it, or not enough memory.
  virtual std::optional<double> us(const profile::Kernel& kernel) = 0;

  /// Runs probes for a few seconds. Call once, after the kernels, so that the device has its clocks
  /// under load; nothing is recorded afterwards.
  virtual DeviceFacts facts() = 0;
};

}  // namespace symprof::measure
