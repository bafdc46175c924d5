// Coefficients of kernel times fitted on measurements of one device, as load_kernel_times reads
// them.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "base/device_spec.h"
#include "profile/time/kernel.h"
#include "profile/time/kernel_times.h"

namespace symprof::profile {

/// A kernel and how long it took, in microseconds.
struct MeasuredKernel {
  Kernel kernel;
  double us = 0;
};

/// How many measurements of a class its fit needs: `folds` (five) parts, each with its own fit of
/// the others, have to leave more rows than the formula has coefficients.
std::size_t fewest_measurements(TimeClass time_class);

/// Coefficients by least squares of the logarithm, with little weight on outliers, drawn a little
/// towards the formula's start, where the rows do not decide; the residuals of all rows; and the
/// interval and its spread from cross-validation: each fifth of the rows is judged by a fit of the
/// other four fifths, coefficients and residuals. `fitted_on` says which measurements these are.
/// Throws Error where they are fewer than fewest_measurements, are of another class, took no time
/// or have no finite formula on this device.
ClassTimes fit_class(const DeviceSpec& device, TimeClass time_class,
                     const std::vector<MeasuredKernel>& measured, const std::string& fitted_on);

/// The file that parse_kernel_times reads; four digits of each coefficient.
std::string to_json(const KernelTimes& times);

}  // namespace symprof::profile
