// Kernels of a real device, measured as long as somebody asks, and what is known of them in a file.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "session/calibrate.h"
#include "session/measure/measure.h"

namespace symprof {

/// As it is asked, in texts: "cuda:0", "2.5", a file that is read where it is there.
struct CalibrationTexts {
  std::string device = "cpu", minutes = "2", measurements;
};

/// What is measured of a device is kept in the file of measurements as it comes in. Throws Error
/// for the first text that is none, and for measurements of another kind of device.
CalibrationQuestion read_calibration(const CalibrationTexts& texts);

/// What was known with what is measured now; on a GPU in a process of its own, and the exit code of
/// that where it is not 0.
std::variant<measure::Calibration, int> measure_known_kernels(const CalibrationQuestion& question,
                                                              const ShowProgress& show_progress);

}  // namespace symprof
