// A calibration: kernels are measured on a real device, and their times fitted into a device file.
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
  std::string device = "cpu";  ///< Device that runs the kernels: "cpu", "cuda:0".
  double minutes = 2;
  measure::Calibration known;  ///< Measurements of an earlier calibration.
  Progress progress;           ///< By seconds.
  /// Called before each kernel; true ends the measurement.
  std::function<bool()> is_stopped;
  /// Called a few times a minute with the measurements so far, so that a process that dies loses
  /// little.
  std::function<void(const measure::Calibration&)> keep;
};

/// Measures kernels, the most uncertain times first, and in the last fifth of the time kernels that
/// run so long that clocks drop. On a GPU, call want_cuda_kernels() before. Throws Error
/// (not_available) without LibTorch or the device.
measure::Calibration measure_kernels(const CalibrationQuestion& question);

/// The fit of one class.
struct FittedClass {
  profile::TimeClass time_class{};
  std::size_t kernels = 0;
  double shortest_us = 0, longest_us = 0;
  /// Half width at the class's median kernel: nine of ten held-out kernels lie within a factor of
  /// exp(half_width).
  double half_width = 0;
};

struct CalibratedDevice {
  std::string json;  ///< A device file, with the coefficients of its kernel times in it.
  std::vector<FittedClass> fitted;
  std::vector<profile::TimeClass> left_out;  ///< Measured, but not often enough for a fit.
};

/// Kernels of a program's trace (`is_of_program`) adjust the times that `like` has, or the data
/// sheet's (profile/time/adjust.h); others are fitted anew.
///
/// `like`: the device that provides the file's other properties, and the kernel times of classes
/// that were not fitted; for a CPU, the GPU whose memory its profiles show. Throws Error where the
/// calibration lacks measurements that a fit needs.
CalibratedDevice fit_device(const measure::Calibration& calibration, const DeviceSpec& like,
                            const std::string& name);

/// The shipped device with the driver's name for the calibrated one; for a CPU the default device.
/// Throws Error where no device has the name.
DeviceSpec device_like(const measure::DeviceFacts& facts);

}  // namespace symprof
