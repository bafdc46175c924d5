// The interval of a whole step's time around the sum of its calls.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "profile/time/kernel.h"
#include "profile/time_data.h"

namespace symprof::profile {

/// Errors within a step are correlated. With a device file measured on another board, errors of a
/// class are correlated, plus an error common to all kernels (board, driver, library, temperature).
/// If this very device was calibrated, the fit removes class errors: what remains is each kernel's
/// own error, equal for all its runs, and changes of the device's speed.
class StepInterval {
 public:
  /// DeviceSpec::speed_half_width.
  explicit StepInterval(std::optional<double> speed_half_width)
      : speed_half_width_(speed_half_width) {}

  void add(const CallTime& call);

  /// Half width (natural logarithm) of a step with `busy_us` of device time.
  double half_width(double busy_us) const;

 private:
  std::optional<double> speed_half_width_;
  std::array<double, time_classes> of_classes_{};  ///< Microseconds times half width.
  /// The same by kernel, identified by class and time.
  std::map<std::pair<TimeClass, double>, double> of_kernels_;
};

}  // namespace symprof::profile
