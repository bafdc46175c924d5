// The formulas of kernel times: each gives the microseconds of one kernel from its work, the
// device's data sheet and a few fitted coefficients (scripts/time/).
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
  double start;  ///< Initial value of a fit.
  double lowest,
      highest;        ///< Bounds of a fit: beyond them coefficients trade off against each other.
  double absent = 0;  ///< Its value if a file lacks it; 0: required.
};

/// Hyperparameters of the Gaussian process that interpolates a fit's residuals over the logarithms
/// (base 2) of sizes. Its covariance decays exponentially with distance, because libraries switch
/// kernels between neighboring sizes, so residuals are not smooth.
struct ResidualKernel {
  double length = 2;  ///< In octaves: the distance at which the covariance falls to about a third.
  double deviation = 0.08, noise = 0.06;
  double largest = 0.35;  ///< A larger residual is a measurement outlier.
  double last_scale = 1;  ///< Weight of the last size's octaves.
};

struct Formula {
  TimeClass time_class;
  std::string_view name;
  std::span<const Coefficient> coefficients;  ///< The first is always "floor": microseconds.
  KernelTime (*time)(const Work&, const Gpu&, Coefficients, TimeClass);
  std::vector<double> (*sizes)(const Work&);  ///< Logarithms of the sizes that residuals depend on.
  /// Further coordinates of residuals on a GPU, in octaves too; mostly none.
  std::vector<double> (*ways)(const Work&, const Gpu&, Coefficients, TimeClass);
  ResidualKernel residuals;
  /// Class whose coefficients are used if neither device nor data sheet has any; itself: none.
  TimeClass like;
};

const Formula& formula_of(TimeClass time_class);

/// The coordinates at which residuals are looked up: the ways and the sizes of a kernel.
std::vector<double> residual_place(const Formula&, const Work&, const Gpu&, Coefficients);

/// The Gaussian process for a device. The formulas are made for GPUs: on a CPU, more is left to the
/// residuals.
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

/// The kind of a kernel within its class, for which a device may have its own factor:
/// "dense_backward", "batched", "all".
std::string_view kind_of(const Kernel& kernel);

/// The number of whole pieces of `size` that cover `extent`.
double pieces(double extent, double size);

}  // namespace symprof::profile
