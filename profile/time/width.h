// The interval width of a kernel's time: calibrated on the rows of its class, depending on the
// call's uncertainty.
#pragma once

#include <span>
#include <vector>

#include "profile/time/kernel_times.h"

namespace symprof::profile {

/// The quantities that the error of an estimate depends on.
struct Uncertainty {
  double prior = 1;      ///< The residual process' deviation far from all points; 1 without points.
  double deviation = 1;  ///< The residual process' deviation at the call.
  double scatter = 1;    ///< Leave-one-out error of its neighbors, in deviations.
  double launch = 0;     ///< The share of launch time.
};

/// Half of the interval (natural logarithm).
double half_width(double interval, const Spread& spread, const Uncertainty& uncertainty);

/// A row with its cross-validation error.
struct JudgedRow {
  double error = 0;  ///< Absolute error of the time's natural logarithm.
  Uncertainty uncertainty;
  int fold = 0;  ///< Rows of one fold were predicted by a fit of all others.
};

/// The maximum-likelihood exponents (Laplace distribution). With few rows they stay near the
/// defaults of a file without a spread.
Spread fit_spread(std::span<const JudgedRow> rows);

/// The rows' errors divided by the half width of an interval of 1, each with the spread fitted on
/// the other folds.
std::vector<double> errors_in_half_widths(std::span<const JudgedRow> rows);

}  // namespace symprof::profile
