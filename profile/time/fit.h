// Coefficients of kernel times fitted on measurements of one device, as load_kernel_times reads
// them.
#pragma once

#include <string>
#include <vector>

#include "base/device_spec.h"
#include "profile/time/kernel.h"
#include "profile/time/kernel_times.h"

namespace symprof::profile {

/// A kernel and its measured time in microseconds.
struct MeasuredKernel {
  Kernel kernel;
  double us = 0;
};

/// The fewest measurements for a fit of a class: with cross-validation in `folds` (five) parts,
/// each fit must have more rows than the formula has coefficients.
std::size_t fewest_measurements(TimeClass time_class);

/// Fits a class: coefficients by robust least squares of logarithms, regularized slightly towards
/// the formula's start; the residuals of all rows; and the interval and its spread from
/// cross-validation, where each fifth of the rows is predicted by a fit (coefficients and
/// residuals) of the other four fifths. `fitted_on` names the measurements. Throws Error if there
/// are fewer than fewest_measurements, or one is of another class, has no time, or no finite
/// formula on this device.
ClassTimes fit_class(const DeviceSpec& device, TimeClass time_class,
                     const std::vector<MeasuredKernel>& measured, const std::string& fitted_on);

/// The JSON that parse_kernel_times reads, with four digits per coefficient.
std::string to_json(const KernelTimes& times);

}  // namespace symprof::profile
