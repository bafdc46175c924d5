// A figure as a polynomial of sizes, or a counterexample.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/formulas/polynomial.h"
#include "plan/formulas/size_samples.h"

namespace symprof::plan {

/// Sizes at which the measured figure differs from the polynomial through the other sizes.
struct Mismatch {
  Sizes sizes;
  std::int64_t measured = 0;
  Rational predicted;
};

struct Formula {
  std::optional<Polynomial> polynomial;  ///< Empty: the figure is piecewise.
  /// By variable: the formula was verified where the size is a multiple of this; 1 allows any size.
  Sizes multiples;
  /// The counterexample, where there is no polynomial.
  std::optional<Mismatch> mismatch;
};

/// True if `sizes` are multiples of `formula.multiples`.
bool holds_at(const Formula& formula, const Sizes& sizes);

}  // namespace symprof::plan
