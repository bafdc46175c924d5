// How wide the interval of a kernel's time is: as wide as the rows of its class need, by what is
// known of the call.
//
// Public header.
#pragma once

#include <span>
#include <vector>

#include "profile/time/kernel_times.h"

namespace symprof::profile {

/// What the error of an estimate depends on.
struct Doubt {
  double prior = 1;      ///< The residual process' deviation far from all points; 1 without points.
  double deviation = 1;  ///< And where the call is.
  double scatter = 1;    ///< How far its neighbours are from what theirs say, in deviations.
  double launch = 0;     ///< The share of the time that is a launch's.
};

/// Half of the interval (natural logarithm).
double half_width(double interval, const Spread& spread, const Doubt& doubt);

/// A row that a fit of other rows judged.
struct JudgedRow {
  double error = 0;  ///< Of the time's natural logarithm, without its sign.
  Doubt doubt;
  int fold = 0;  ///< Rows of one fold were judged by a fit of all others.
};

/// The powers under which the errors are likeliest (Laplace's distribution). Where rows are few
/// they stay near those that a file without a spread has.
Spread fit_spread(std::span<const JudgedRow> rows);

/// The rows' errors in half widths of an interval of 1, each by the spread that fits the rows of
/// the other folds.
std::vector<double> errors_in_half_widths(std::span<const JudgedRow> rows);

}  // namespace symprof::profile
