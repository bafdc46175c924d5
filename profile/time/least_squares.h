// Robust least squares within bounds.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace symprof::profile {

struct Unknown {
  double start = 0, lowest = 0, highest = 0;
};

using Errors = std::function<std::vector<double>(std::span<const double>)>;

/// The values within the bounds that minimize the errors: soft L1 loss of
/// scipy.optimize.least_squares with scale 0.08, slightly regularized towards the start.
/// Levenberg-Marquardt with finite-difference derivatives, so `errors` may have kinks.
std::vector<double> least_squares(const std::vector<Unknown>& unknowns, const Errors& errors);

}  // namespace symprof::profile
