#include "plan/formulas/polynomial.h"

#include <doctest/doctest.h>

#include <limits>

namespace symprof::test {
namespace {

using plan::Grid;
using plan::interpolate;
using plan::Polynomial;
using plan::Rational;
using plan::Sizes;
using plan::Term;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// The values of `formula` at the points of `grid`.
template <class Formula>
std::vector<std::int64_t> values_of(const Grid& grid, const Formula& formula) {
  std::vector<std::int64_t> values;
  for (const Sizes& point : plan::points_of(grid)) values.push_back(formula(point));
  return values;
}

}  // namespace

TEST_SUITE("polynomial") {
  TEST_CASE("fractions are in lowest terms") {
    CHECK(Rational::of(6, -4) == Rational::of(-3, 2));
    CHECK(Rational::of(0, 7) == Rational(0));
    CHECK(Rational::of(1, 6) + Rational::of(1, 10) == Rational::of(4, 15));
    CHECK(Rational::of(1, 6) - Rational::of(1, 6) == Rational(0));
    CHECK(Rational::of(14, 15) * Rational::of(25, 21) == Rational::of(10, 9));
    CHECK(Rational::of(1, 2) / Rational::of(-3, 4) == Rational::of(-2, 3));
    CHECK(Rational::of(8, 4).is_integer());
  }

  TEST_CASE("fractions have arbitrary precision") {
    const Rational square = Rational(largest) * Rational(largest);
    CHECK(square / Rational(largest) == Rational(largest));
    CHECK(square * Rational(2) - square == square);
    CHECK((square * square).numerator() ==
          "7237005577332262210834635695349653859421902880380109739573089701262786560001");
    CHECK((square - square * Rational(2)).is_negative());
    CHECK(square * Rational::of(1, largest) == Rational(largest));
  }

  TEST_CASE("a quadratic of two variables is interpolated from six values") {
    const Grid grid = {{8, 16}, {128, 256, 384}};
    const auto formula = [](const Sizes& at) {
      return 24 * at[0] * at[1] * at[1] + 9216 * at[0] * at[1] + 4096;
    };
    const Polynomial found = interpolate(grid, values_of(grid, formula));
    CHECK(found.terms == std::vector<Term>{{24, {1, 2}}, {9216, {1, 1}}, {4096, {0, 0}}});
    CHECK(found.at({3, 7}) == Rational(formula({3, 7})));
  }

  TEST_CASE("interpolation takes three variables, negative terms and any spacing") {
    const Grid grid = {{2, 3}, {5, 1, 9}, {4, 100, 7, 8, 6}};
    const auto formula = [](const Sizes& at) {
      const std::int64_t b = at[0], h = at[1], s = at[2];
      return b * h * h * s * s * s * s - 7 * h * s + b - 1;
    };
    const Polynomial found = interpolate(grid, values_of(grid, formula));
    CHECK(found.terms ==
          std::vector<Term>{{1, {1, 2, 4}}, {-7, {0, 1, 1}}, {1, {1, 0, 0}}, {-1, {0, 0, 0}}});
  }

  TEST_CASE("coefficients are fractions where a model halves a size") {
    const Grid grid = {{32, 64, 96}};
    const auto formula = [](const Sizes& at) { return (at[0] / 2) * (at[0] / 4) + 3; };
    const Polynomial found = interpolate(grid, values_of(grid, formula));
    CHECK(found.terms == std::vector<Term>{{Rational::of(1, 8), {2}}, {3, {0}}});
  }

  TEST_CASE("zero has no terms, and a constant has one") {
    const Grid grid = {{1, 2, 3}, {4, 5}};
    CHECK(interpolate(grid, std::vector<std::int64_t>(6, 0)).terms.empty());
    CHECK(interpolate(grid, std::vector<std::int64_t>(6, 5)).terms ==
          std::vector<Term>{{5, {0, 0}}});
  }

  TEST_CASE("large values are exact") {
    const Grid grid = {{1024, 2048, 3072, 4096, 5120}};
    const auto formula = [](const Sizes& at) { return 12345 * at[0] * at[0] * at[0] * at[0] + 1; };
    CHECK(interpolate(grid, values_of(grid, formula)).terms ==
          std::vector<Term>{{12345, {4}}, {1, {0}}});
  }

  TEST_CASE("a degree needs one more value that agrees") {
    using Values = std::vector<std::int64_t>;
    CHECK(plan::degree_of(Values{0, 0, 0}) == 0);
    CHECK(plan::degree_of(Values{7, 7, 7}) == 0);
    CHECK(plan::degree_of(Values{1, 3, 5}) == 1);
    CHECK(plan::degree_of(Values{1, 4, 9, 16}) == 2);
    CHECK(plan::degree_of(Values{1, 4, 9}) == -1);
    CHECK(plan::degree_of(Values{1, 4, 9, 17}) == -1);
    CHECK(plan::degree_of(Values{-largest, largest, -largest, largest, -largest, largest}) == -1);
  }
}

}  // namespace symprof::test
