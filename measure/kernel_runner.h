// Single kernels on a real device, for a calibration.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/time/kernel.h"

namespace symprof::measure {

/// The device that kernels ran on, and what short probes found about it. Empty: not known.
struct DeviceFacts {
  std::string device;     ///< "cpu", "cuda:0".
  std::string processor;  ///< As the system or the driver calls it.
  std::string torch_version, driver_version;
  std::string date;          ///< "2026-11-23"
  std::int64_t threads = 0;  ///< That operators of the CPU use.
  /// Of a CPU: what DeviceSpec has of the same names.
  std::optional<std::int64_t> memory_bytes, l2_bytes;
  std::optional<double> memory_bytes_per_second;
  std::vector<std::pair<std::string, double>> flops_per_second;  ///< By dtype.
  std::optional<double> clock_hz, power_watts;                   ///< While kernels ran.
  /// Of an ATen call with autograd: on a CPU beside its kernel, on a GPU with its launch.
  std::optional<double> host_call_us;
  std::optional<double> launch_us;        ///< The shortest kernel that was seen.
  std::optional<double> graph_launch_us;  ///< Of a kernel that does nothing in a CUDA graph.
  /// Between two kernels in a full queue; 0 where kernels were timed together with it.
  std::optional<double> kernel_gap_us;
  /// Of the processors' time, while kernels ran on a CPU: what other programs took.
  std::optional<double> others_share;
  std::optional<std::int64_t> context_bytes;  ///< What the driver holds beside tensors.
};

class KernelRunner {
 public:
  virtual ~KernelRunner() = default;

  /// Median microseconds of one call with this work: on a GPU of its kernels, on a CPU of the call.
  /// Empty where the device has no operator for it, or no memory.
  virtual std::optional<double> us(const profile::Kernel& kernel) = 0;

  /// A few seconds of probes. Once, after the kernels, so that clocks are those of a device at
  /// work, and nothing is recorded any more.
  virtual DeviceFacts facts() = 0;
};

}  // namespace symprof::measure
