// A figure as a polynomial of sizes, or what speaks against one.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/formulas/polynomial.h"
#include "plan/formulas/size_samples.h"

namespace symprof::plan {

/// Sizes at which a figure is not what the polynomial through the other sizes says.
struct Mismatch {
  Sizes sizes;
  std::int64_t measured = 0;
  Rational predicted;
};

struct Formula {
  std::optional<Polynomial> polynomial;  ///< Empty: the figure is piecewise.
  /// The formula was seen to hold where the size of each variable is a multiple of this: 1 says
  /// that any size is as good.
  Sizes multiples;
  /// Without a polynomial: sizes that speak against one.
  std::optional<Mismatch> mismatch;
};

/// True if `sizes` are multiples of what `formula` wants.
bool holds_at(const Formula& formula, const Sizes& sizes);

}  // namespace symprof::plan
