// Interpolated residuals of a fit: a Gaussian process on the rows nearest to the queried one. Gives
// the formula's error there and its uncertainty.
#pragma once

#include <vector>

#include "profile/time/formula.h"
#include "profile/time/kernel_times.h"

namespace symprof::profile {

struct ResidualAt {
  double mean = 0;       ///< Natural logarithm.
  double deviation = 1;  ///< Including the noise of one measurement.
  /// Leave-one-out error of the neighbors, in deviations: libraries' kernel choices are regular
  /// among some sizes and erratic among others.
  double scatter = 1;
};

/// Points with another number of sizes than `sizes` are ignored.
ResidualAt residual_at(const std::vector<ResidualPoint>& points, const std::vector<double>& sizes,
                       const ResidualKernel& kernel);

/// Root mean square of the points' residuals: the error of the formula alone.
double root_mean_square(const std::vector<ResidualPoint>& points, const ResidualKernel& kernel);

}  // namespace symprof::profile
