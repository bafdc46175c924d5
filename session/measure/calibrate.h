// Measurement of a real device's kernels for a given time, with earlier measurements from a file.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "session/calibrate.h"
#include "session/measure/measure.h"

namespace symprof {

/// A calibration's options as text: "cuda:0", "2.5", a file that is read if it exists.
struct CalibrationTexts {
  std::string device = "cpu", minutes = "2", measurements;
};

/// Measurements are saved to the file as they are made. Throws Error for the first invalid text,
/// and for measurements of another kind of device.
CalibrationQuestion read_calibration(const CalibrationTexts& texts);

/// Returns the earlier measurements and the new ones; a GPU is measured in a child process, whose
/// exit code is returned if it is not 0.
std::variant<measure::Calibration, int> measure_known_kernels(const CalibrationQuestion& question,
                                                              const ShowProgress& show_progress);

}  // namespace symprof
