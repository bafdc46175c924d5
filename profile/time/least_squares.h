// Least squares within bounds, with little weight on outliers.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace symprof::profile {

struct Unknown {
  double start = 0, lowest = 0, highest = 0;
};

using Errors = std::function<std::vector<double>(std::span<const double>)>;

/// The values within the bounds for which the errors are smallest. An error far beyond 0.08 counts
/// by its size and not by its square (the soft L1 loss of scipy.optimize.least_squares), and what
/// the errors do not decide stays near its start. Derivatives are differences: `errors` may have
/// kinks. The method is Levenberg's and Marquardt's.
std::vector<double> least_squares(const std::vector<Unknown>& unknowns, const Errors& errors);

}  // namespace symprof::profile
