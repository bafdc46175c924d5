// What a calibration measured, and its file.
//
// Public header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/kernel_runner.h"
#include "profile/time/fit.h"

namespace symprof::measure {

struct Calibration {
  DeviceFacts facts;
  std::vector<profile::MeasuredKernel> kernels;  ///< In the order in which they were measured.
  /// A few kernels again and again meanwhile.
  std::vector<profile::MeasuredKernel> repeated;
};

/// How much the device's speed changed: half width (natural logarithm) that nine of ten rounds lie
/// in. A round has each kernel once; what they have in common, the mean of their changes from
/// their own medians, is the device's. Empty where there are too few to say.
std::optional<double> speed_half_width(const std::vector<profile::MeasuredKernel>& repeated);

/// Schema symprof.kernels/1 (profile/time/sweep.h) with the facts beside the kernels, and back.
/// Reading throws Error that names the place in the file.
std::string to_json(const Calibration& calibration);
Calibration parse_calibration(const std::string& json, const std::string& path);

}  // namespace symprof::measure
