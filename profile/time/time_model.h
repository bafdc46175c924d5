// How long kernels take on a device, with an interval and what limits them.
//
// Public header.
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

/// Where an estimate's coefficients come from.
enum class TimeBasis : std::uint8_t {
  calibrated,  ///< Fitted on measurements of this device.
  data_sheet,  ///< The device's data sheet, with coefficients of other devices.
};

struct TimeEstimate {
  double us = 0, low_us = 0, high_us = 0;  ///< Nine of ten measurements lie between the two.
  Limit limit = Limit::nothing;
  TimeBasis basis = TimeBasis::data_sheet;
};

/// What a row's time begins with.
enum class Floor : std::uint8_t {
  of_device,  ///< A launch on the device: kernels wait for each other, not for the host.
  of_graph,   ///< The same between the nodes of a CUDA graph.
  measured,   ///< Whatever the measurements have in it.
};

class TimeModel {
 public:
  /// `own` are the times of the device's file (may be empty), `data_sheet` those for all devices.
  /// Throws Error that names what the device's file lacks.
  TimeModel(const DeviceSpec& device, KernelTimes own, KernelTimes data_sheet,
            Floor floor = Floor::of_device);

  /// Empty where the device has no units for it, or nothing was ever fitted.
  std::optional<TimeEstimate> estimate(const Kernel& kernel);

  /// From now on kernels are by so much, between 0 (as at first) and 1, those that find their
  /// operands in L2. It changes the classes that were measured both ways.
  void find_in_cache(double share);

  /// Microseconds of the formula alone, with these coefficients in its order.
  double formula_us(const Kernel& kernel, const std::vector<double>& coefficients) const;

  /// Where the kernel's residual is looked up with these coefficients.
  std::vector<double> residual_place(const Kernel& kernel,
                                     const std::vector<double>& coefficients) const;

  /// What the width of its interval follows from; empty where it has no estimate.
  std::optional<Doubt> doubt(const Kernel& kernel) const;

  /// What the kernel's products would take at the peak of their type; 0 where it has none.
  double peak_us(const Kernel& kernel) const;

  /// The roofline: the larger of FLOPs by the peak and bytes by the bandwidth. For comparison.
  double roofline_us(const Kernel& kernel) const;

 private:
  struct Device;
  /// Of one kernel: with operands that come from memory, and with those that L2 has.
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

/// The model of a device, with its own coefficients where its file names some, and those of
/// `data_sheet` (a path). Throws Error as load_kernel_times.
TimeModel time_model_of(const DeviceSpec& device, const std::string& data_sheet,
                        Floor floor = Floor::of_device);

}  // namespace symprof::profile
