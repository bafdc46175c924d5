// How far the time of a whole step may be from what its calls add up to.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "profile/step_time.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

/// Errors inside of a step go together. Of a device's file that others measured, those of a class
/// do, and what is common to all kernels (another board, driver, library, temperature) is on top.
/// Where the very device was calibrated, a fit of its own kernels leaves no error to a class:
/// what is left is each kernel's own, the same each time that it runs, and what the device's speed
/// changes by.
class StepInterval {
 public:
  /// DeviceSpec::speed_half_width.
  explicit StepInterval(std::optional<double> speed_half_width)
      : speed_half_width_(speed_half_width) {}

  void add(const CallTime& call);

  /// Natural logarithm of the interval's end by the step, which keeps the device busy for
  /// `busy_us`.
  double half_width(double busy_us) const;

 private:
  std::optional<double> speed_half_width_;
  std::array<double, time_classes> of_classes_{};  ///< Microseconds times half width.
  /// The same of kernels, by what makes them equal: the class and the time.
  std::map<std::pair<TimeClass, double>, double> of_kernels_;
};

}  // namespace symprof::profile
