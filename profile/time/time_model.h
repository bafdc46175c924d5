// Kernel times on a device, with an interval and the limiting resource.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/device_spec.h"
#include "profile/time/kernel.h"
#include "profile/time/kernel_times.h"
#include "profile/time/width.h"

namespace symprof::profile {

struct TimeEstimate {
  double us = 0, low_us = 0, high_us = 0;  ///< 90 % interval.
  Limit limit = Limit::nothing;
  TimeBasis basis = TimeBasis::data_sheet;
};

/// The constant part of a kernel's time.
enum class Floor : std::uint8_t {
  of_device,  ///< A launch on the device: kernels are queued, the host is ahead.
  of_graph,   ///< The same between the nodes of a CUDA graph.
  measured,   ///< As in the measurements.
};

class TimeModel {
 public:
  /// `own`: times of the device's file (may be empty); `data_sheet`: times for all devices. Throws
  /// Error that names the keys missing from the device's file.
  TimeModel(const DeviceSpec& device, KernelTimes own, KernelTimes data_sheet,
            Floor floor = Floor::of_device);

  /// Empty if the device does not support the kernel, or its class was never fitted.
  std::optional<TimeEstimate> estimate(const Kernel& kernel);

  /// Sets the share, from 0 (the default) to 1, of kernels whose operands are in L2. Affects
  /// classes that were measured both ways.
  void find_in_cache(double share);

  /// Microseconds of the formula alone, with these coefficients in its order. Those of the data
  /// sheet go with the clock that the board's power sustains.
  double formula_us(const Kernel& kernel, const std::vector<double>& coefficients,
                    TimeBasis basis = TimeBasis::calibrated) const;

  /// The coordinates of the kernel's residual with these coefficients.
  std::vector<double> residual_place(const Kernel& kernel,
                                     const std::vector<double>& coefficients) const;

  /// The quantities that determine the interval's width; empty without an estimate.
  std::optional<Uncertainty> uncertainty(const Kernel& kernel) const;

  /// The time of the kernel's products at peak FLOP/s of their dtype; 0 without products.
  double peak_us(const Kernel& kernel) const;

  /// Roofline lower bound: the larger of FLOPs / peak and bytes / bandwidth. For comparison.
  double roofline_us(const Kernel& kernel) const;

 private:
  struct Device;
  /// Estimates of one kernel: with operands in memory, and with operands in L2.
  struct Known {
    std::optional<TimeEstimate> usual, in_cache;
    bool knows_in_cache = false;
  };
  struct Parts;
  std::optional<Parts> parts_of(const Kernel& kernel, bool in_cache) const;
  std::optional<TimeEstimate> compute(const Kernel& kernel, bool in_cache) const;

  std::shared_ptr<const Device> device_;
  double share_in_cache_ = 0;
  std::map<Kernel, Known> known_;
};

/// The model of a device, with its own coefficients if its file names some, and those of
/// `data_sheet` (a path). Throws Error as load_kernel_times.
TimeModel time_model_of(const DeviceSpec& device, const std::string& data_sheet,
                        Floor floor = Floor::of_device);

}  // namespace symprof::profile
