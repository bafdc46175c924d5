// How far two values are from each other.
//
// Public header.
#pragma once

#include <span>
#include <string>

namespace symprof::workbench {

struct ValueDifference {
  double absolute = 0;    ///< The largest |x - y|; infinite where one alone is not a number.
  double relative = 0;    ///< The largest |x - y| / (|x| + 1e-7).
  bool is_within = true;  ///< |x - y| <= tolerance * max(1, |x|) everywhere.
  std::string other;      ///< What differs but values: dtype or shape. Empty: nothing.
};

/// Adds what differs between as many numbers of either.
void add_numbers(ValueDifference& out, std::span<const double> left, std::span<const double> right,
                 double tolerance);

}  // namespace symprof::workbench
