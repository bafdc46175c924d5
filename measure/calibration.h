// What a calibration measured, and its file.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "measure/kernel_runner.h"
#include "profile/time/fit.h"

namespace symprof::measure {

struct Calibration {
  DeviceFacts facts;
  std::vector<profile::MeasuredKernel> kernels;  ///< In the order in which they were measured.
};

/// Schema symprof.kernels/1 (profile/time/sweep.h) with the facts beside the kernels, and back.
/// Reading throws Error that names the place in the file.
std::string to_json(const Calibration& calibration);
Calibration parse_calibration(const std::string& json, const std::string& path);

}  // namespace symprof::measure
