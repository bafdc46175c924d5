// The difference between two values.
#pragma once

#include <span>
#include <string>

namespace symprof::workbench {

struct ValueDifference {
  double absolute = 0;    ///< The largest |x - y|; infinite if only one is NaN.
  double relative = 0;    ///< The largest |x - y| / (|x| + 1e-7).
  bool is_within = true;  ///< |x - y| <= tolerance * max(1, |x|) everywhere.
  std::string other;      ///< A difference in dtype or shape. Empty: none.
};

/// Accumulates the differences of two equally long lists of numbers. Where `magnitude` is larger
/// than |x| and 1, it takes their place.
void add_numbers(ValueDifference& out, std::span<const double> left, std::span<const double> right,
                 double tolerance, double magnitude = 0);

}  // namespace symprof::workbench
