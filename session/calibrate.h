// A calibration: kernels are measured on a real device, and their times fitted into a device file.
//
// Public header.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "measure/calibration.h"
#include "profile/time/fit.h"
#include "record/step_options.h"

namespace symprof {

struct CalibrationQuestion {
  std::string device = "cpu";  ///< Where kernels run: "cpu", "cuda:0".
  double minutes = 2;
  measure::Calibration known;  ///< What an earlier calibration of this device measured.
  Progress progress;           ///< By seconds.
  /// Asked before each kernel; true ends the measurement.
  std::function<bool()> is_stopped;
  /// Told a few times a minute what there is, so that a process that dies loses little.
  std::function<void(const measure::Calibration&)> keep;
};

/// Measures kernels, those first whose time is least known, and in the last fifth of the time those
/// that take so long that clocks fall. On a GPU, want_cuda_kernels() has to come before. Throws
/// Error (not_available) where LibTorch or the device is not there.
measure::Calibration measure_kernels(const CalibrationQuestion& question);

/// What was fitted of a class.
struct FittedClass {
  profile::TimeClass time_class{};
  std::size_t kernels = 0;
  double shortest_us = 0, longest_us = 0;
  /// In the middle of its kernels: nine of ten that no fit saw lie within a factor of exp(it).
  double half_width = 0;
};

struct CalibratedDevice {
  std::string json;  ///< A device file, with the coefficients of its kernel times in it.
  std::vector<FittedClass> fitted;
  std::vector<profile::TimeClass> left_out;  ///< Measured, but not often enough for a fit.
};

/// `like`: the device whose other properties the file has, and whose kernel times serve classes
/// that were not fitted; of a CPU, the GPU whose memory its profiles show. Throws Error where the
/// calibration lacks what a fit needs.
CalibratedDevice fit_device(const measure::Calibration& calibration, const DeviceSpec& like,
                            const std::string& name);

/// The shipped device with the name that the driver gives the calibration's; for a CPU the default
/// one. Throws Error where none has it.
DeviceSpec device_like(const measure::DeviceFacts& facts);

}  // namespace symprof
