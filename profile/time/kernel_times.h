// What was fitted for a device: the coefficients of each class of kernels, the residuals of the
// rows that they were fitted on, and how wide an interval has to be. scripts/time/ writes it.
//
// Public header.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profile/time/kernel.h"

namespace symprof::profile {

/// A row that was fitted: the logarithms (base 2) of its sizes, and what its measured time is above
/// the formula's (natural logarithm).
struct ResidualPoint {
  std::vector<double> sizes;
  double residual = 0;
};

/// How the width of intervals follows from a call (width.h): the powers of the residual process'
/// deviation there and of its scatter, and by how much (natural logarithm) a kernel that is nothing
/// but its launch has a wider one.
struct Spread {
  double deviation = 1, scatter = 1, launch = 0;
};

struct ClassTimes {
  std::vector<double> coefficients;  ///< As the formula of the class names them, in its order.
  std::vector<ResidualPoint> points;
  /// Of the residual process' deviation where there are points, else the half width itself
  /// (natural logarithm): 90 % of rows that no fit saw lie within.
  double interval = 0;
  Spread spread;
  /// By kind of kernel (kind_of): what the formula's time is multiplied by; 1 where there is none.
  std::map<std::string, double, std::less<>> factors;
  std::string fitted_on;  ///< Which rows of which source.
  /// False: the coefficients are those of other devices.
  bool is_calibrated = false;
  /// Rows were timed with one call at a time, so that "floor" is mostly the host's.
  bool floor_is_host = false;
  /// Those of kernels that find their operands in L2; null: nobody measured them apart.
  std::shared_ptr<const ClassTimes> in_cache;
};

/// By TimeClass; empty where nothing was fitted.
using KernelTimes = std::vector<std::optional<ClassTimes>>;

/// Reads a file of devices/time/, once as long as it stays as it is. Throws Error that says which
/// key of which class is wrong.
KernelTimes load_kernel_times(const std::string& path);
KernelTimes parse_kernel_times(const std::string& json, const std::string& path);

}  // namespace symprof::profile
