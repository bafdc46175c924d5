// Times of a class that a device has already, adjusted by measurements of the sizes that a program
// happens to have: too few, and too alike, for a fit of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "profile/time/fit.h"
#include "profile/time/kernel_times.h"

namespace symprof::profile {

/// The times of a device: its own, and those for all devices.
struct KnownTimes {
  const KernelTimes& own;
  const KernelTimes& data_sheet;
};

/// The coefficients stay those of `known`; a factor for each kind of kernel moves them to the
/// measurements, the less the fewer there are, and the measurements become residual points. The
/// interval is what measurements needed that were left out in turn; where they are few, the width
/// that the class had counts as well. Empty if the class has no times.
std::optional<ClassTimes> adjust_class(const DeviceSpec& device, TimeClass time_class,
                                       const std::vector<MeasuredKernel>& measured,
                                       const KnownTimes& known, const std::string& fitted_on);

}  // namespace symprof::profile
