// The formulas of kernel times: each gives the microseconds of one kernel from its work, the
// device's data sheet and a few coefficients that were fitted (scripts/time/).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "profile/time/gpu.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

struct KernelTime {
  double us = 0;
  Limit limit = Limit::nothing;
};

using Coefficients = std::span<const double>;

struct Coefficient {
  std::string_view name;
  double start;            ///< Where a fit begins.
  double lowest, highest;  ///< Where it ends: coefficients trade against each other beyond.
  double absent = 0;       ///< Its value in files that have none of it; 0: all must have it.
};

/// Residuals of a fit are interpolated by a Gaussian process on the logarithms (base 2) of sizes,
/// whose covariance falls exponentially with distance: libraries change kernels from one size to
/// the next, so that what neighbours share is not smooth.
struct ResidualKernel {
  double length = 2;  ///< In octaves: there the covariance is a third of its largest.
  double deviation = 0.08, noise = 0.06;
  double largest = 0.35;  ///< A residual beyond is an outlier of the measurement.
  double last_scale = 1;  ///< Octaves of the last size count so many times.
};

struct Formula {
  TimeClass time_class;
  std::string_view name;
  std::span<const Coefficient> coefficients;  ///< The first is always "floor": microseconds.
  KernelTime (*time)(const Work&, const Gpu&, Coefficients, TimeClass);
  std::vector<double> (*sizes)(const Work&);  ///< Logarithms of what residuals depend on.
  /// What residuals depend on beside the sizes on a GPU, in octaves as well; mostly nothing.
  std::vector<double> (*ways)(const Work&, const Gpu&, Coefficients, TimeClass);
  ResidualKernel residuals;
  /// Whose coefficients serve where neither device nor data sheet has any; itself: nobody's.
  TimeClass like;
};

const Formula& formula_of(TimeClass time_class);

/// Where residuals are looked up: the ways and the sizes of a kernel.
std::vector<double> residual_place(const Formula&, const Work&, const Gpu&, Coefficients);

/// The formulas are those of GPUs: where they describe a CPU, more is left to the residuals.
ResidualKernel residuals_on(const Formula& formula, bool is_cpu);

// One file each.
extern const std::span<const Coefficient> product_coefficients, tensor_product_coefficients,
    attention_coefficients, convolution_coefficients, tensor_convolution_coefficients,
    depthwise_coefficients, library_depthwise_coefficients, recurrent_coefficients,
    stream_coefficients, row_coefficients, function_coefficients;
KernelTime product_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime attention_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime convolution_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime tensor_convolution_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime depthwise_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime library_depthwise_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime recurrent_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime stream_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime row_time(const Work&, const Gpu&, Coefficients, TimeClass);
KernelTime function_time(const Work&, const Gpu&, Coefficients, TimeClass);
std::vector<double> product_sizes(const Work&);
std::vector<double> product_ways(const Work&, const Gpu&, Coefficients, TimeClass);
std::vector<double> attention_sizes(const Work&);
std::vector<double> convolution_sizes(const Work&);
std::vector<double> depthwise_sizes(const Work&);
std::vector<double> recurrent_sizes(const Work&);
std::vector<double> stream_sizes(const Work&);
std::vector<double> row_sizes(const Work&);
std::vector<double> function_sizes(const Work&);

/// The part of its class that a kernel belongs to, for which a device may have a factor of its own:
/// "dense_backward", "batched", "all".
std::string_view kind_of(const Kernel& kernel);

/// How many whole pieces of `size` cover `extent`.
double pieces(double extent, double size);

}  // namespace symprof::profile
