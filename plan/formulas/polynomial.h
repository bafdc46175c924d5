// Polynomials of several variables, found exactly from their values at whole numbers.
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

/// Only terms that are not zero, in the order in which one writes them: by degree, then by the
/// powers of the first variables, the highest first.
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

/// The least degree of a polynomial through `values` at sizes with equal distances, where at least
/// one value more agrees with it than it has coefficients; -1 where there is none.
int degree_of(std::span<const std::int64_t> values);

}  // namespace symprof::plan
