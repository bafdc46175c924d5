// Fitted times of a device: the coefficients of each kernel class, the residuals of the fitted
// rows, and the interval widths. Written by scripts/time/.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/time/kernel.h"

namespace symprof::profile {

/// A fitted row: the logarithms (base 2) of its sizes, and the natural logarithm of measured time
/// over the formula's.
struct ResidualPoint {
  std::vector<double> sizes;
  double residual = 0;
};

/// How interval widths depend on a call (width.h): the exponents of the residual process' deviation
/// and scatter at the call, and the extra width (natural logarithm) of a purely launch-bound
/// kernel.
struct Spread {
  double deviation = 1, scatter = 1, launch = 0;
};

using KindFactors = std::map<std::string, double, std::less<>>;
constexpr std::string_view other_kinds = "other";
/// The kind's own factor, else that of `other_kinds`, else 1.
double factor_of(const KindFactors& factors, std::string_view kind);

struct ClassTimes {
  std::vector<double> coefficients;  ///< In the order of the class' formula.
  std::vector<ResidualPoint> points;
  /// Half width of the 90 % interval for held-out rows (natural logarithm): a multiple of the
  /// residual process' deviation if there are points, else the half width itself.
  double interval = 0;
  Spread spread;
  /// How reproducible a measured time is: half width (natural logarithm) of the 90 % interval of
  /// one kernel's times on one kind of GPU, over boards, drivers, library versions and timing
  /// methods. Of all devices: in the data sheet's times. Above 0 in a device's own: what two runs
  /// on one board differ by.
  double campaigns = 0;
  /// By kind of kernel (kind_of): factor on the formula's time; that of `other_kinds` if absent.
  KindFactors factors;
  std::string fitted_on;  ///< The source of the fitted rows.
  /// False: the coefficients were fitted on other devices.
  bool is_calibrated = false;
  /// Larger residuals are outliers (natural logarithm); 0: the formula's own bound. Above where
  /// each point is the median of several calls.
  double largest_residual = 0;
  /// The coefficients are those of all devices, for the boost clock: the board's power lowers it.
  bool is_at_boost = false;
  /// Rows were timed one call at a time, so the coefficient "floor", the time of the smallest
  /// kernel, is mostly host time.
  bool floor_is_host = false;
  /// Times of kernels whose operands are in L2; null: not measured separately.
  std::shared_ptr<const ClassTimes> in_cache;
};

/// By TimeClass; empty if not fitted.
using KernelTimes = std::vector<std::optional<ClassTimes>>;

/// Reads a file of devices/time/, cached until it changes. Throws Error that names the wrong key
/// and class.
KernelTimes load_kernel_times(const std::string& path);
KernelTimes parse_kernel_times(const std::string& json, const std::string& path);

}  // namespace symprof::profile
