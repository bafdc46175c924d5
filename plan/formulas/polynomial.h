// Polynomials of several variables, interpolated exactly from values at integers.
//
// Public header.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/formulas/rational.h"

namespace symprof::plan {

/// A value for each variable.
using Sizes = std::vector<std::int64_t>;

struct Term {
  Rational coefficient;
  std::vector<int> powers;  ///< One for each variable.

  int degree() const;  ///< The sum of the powers.
  friend bool operator==(const Term&, const Term&) = default;
};

/// The terms other than zero, in the usual order: by degree, then by the powers of the first
/// variables, descending.
struct Polynomial {
  std::vector<Term> terms;

  Rational at(const Sizes& sizes) const;
  friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

/// The sizes of each variable, all different; a grid is every combination of them.
using Grid = std::vector<Sizes>;

/// Every combination, the last variable changing fastest.
std::vector<Sizes> points_of(const Grid& grid);

/// The one polynomial through `values` (in the order of points_of) whose degree in each variable is
/// below the number of its sizes.
Polynomial interpolate(const Grid& grid, std::span<const std::int64_t> values);

/// The lowest degree of a polynomial through `values` at equally spaced sizes, confirmed by at
/// least one more value than it has coefficients; -1: none.
int degree_of(std::span<const std::int64_t> values);

}  // namespace symprof::plan
