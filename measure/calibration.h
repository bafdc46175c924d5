// The measurements of a calibration, and their file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/kernel_runner.h"
#include "profile/time/fit.h"

namespace symprof::measure {

struct Calibration {
  DeviceFacts facts;
  std::vector<profile::MeasuredKernel> kernels;  ///< In measurement order.
  /// A few kernels, repeated throughout the calibration.
  std::vector<profile::MeasuredKernel> repeated;
  /// Kernels of a program's trace: whatever sizes it has, not those that a fit needs.
  bool is_of_program = false;
};

/// Variation of the device's speed: half width (natural logarithm) of the interval with 90 % of the
/// rounds. A round has each kernel once; its value is the mean deviation of the kernels from their
/// own medians. Empty with too few rounds.
std::optional<double> speed_half_width(const std::vector<profile::MeasuredKernel>& repeated);

/// Writes and reads schema symprof.kernels/1 (profile/time/sweep.h), including the device facts.
/// Reading throws Error that names the place in the file.
std::string to_json(const Calibration& calibration);
Calibration parse_calibration(const std::string& json, const std::string& path);

}  // namespace symprof::measure
