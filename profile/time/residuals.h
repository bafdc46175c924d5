// Residuals of a fit, interpolated: a Gaussian process on the rows that are nearest to the one that
// is asked for. It says how far the formula is off there, and how little is known of that.
#pragma once

#include <vector>

#include "profile/time/formula.h"
#include "profile/time/kernel_times.h"

namespace symprof::profile {

struct ResidualAt {
  double mean = 0;       ///< Natural logarithm.
  double deviation = 1;  ///< With the noise of one measurement.
  /// How far its neighbours are from what theirs say, in deviations: libraries' choices are plain
  /// among some sizes and wild among others.
  double scatter = 1;
};

/// `points` have as many sizes as `sizes`; others are left out.
ResidualAt residual_at(const std::vector<ResidualPoint>& points, const std::vector<double>& sizes,
                       const ResidualKernel& kernel);

/// Of the points' residuals: how far off the formula alone is.
double root_mean_square(const std::vector<ResidualPoint>& points, const ResidualKernel& kernel);

}  // namespace symprof::profile
