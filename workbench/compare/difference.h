// How far two values are from each other.
#pragma once

#include <span>
#include <string>

#include "workbench/verify.h"

namespace symprof::workbench {

struct ValueDifference {
  double absolute = 0;    ///< The largest |x - y|; infinite where one alone is not a number.
  double relative = 0;    ///< The largest |x - y| / (|x| + 1e-7).
  bool is_within = true;  ///< |x - y| <= tolerance * max(1, |x|) everywhere.
  std::string other;      ///< What differs but values: a shape. Empty: nothing.
};

/// Of tensors, or of sequences of them. Dtypes may differ, where both have numbers.
ValueDifference difference_of(const ValueRunner::Tensors& x, const ValueRunner::Tensors& y,
                              double tolerance);

}  // namespace symprof::workbench
