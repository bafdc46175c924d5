// Piecewise curves of figures that are no polynomials.
#include "plan/formulas/curve.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace symprof::test {
namespace {

using plan::Curve;
using plan::CurvePiece;
using plan::find_curve;
using plan::Variable;

Curve curve_of(const Variable& variable, double (*figure)(double)) {
  return find_curve(variable, [figure](std::int64_t size) {
    return std::optional<double>(figure(static_cast<double>(size)));
  });
}

/// The largest error of a curve, at sizes that were not measured too.
double largest_error(const Curve& curve, double (*figure)(double)) {
  double largest = 0;
  for (const CurvePiece& piece : curve.pieces)
    for (std::int64_t size = piece.first; size <= piece.last; ++size) {
      const double truth = figure(static_cast<double>(size));
      largest = std::max(largest, std::abs(piece.at(size) / truth - 1));
    }
  return largest;
}

double straight(double size) { return 100 + 3 * size; }
double square(double size) { return 50 + 0.25 * size * size; }
/// A host that takes 300, and a device that takes longer from size 101 on.
double hinge(double size) { return std::max(300.0, 3 * size - 1); }
/// One more wave per 132 tiles.
double waves(double size) { return 400 * std::ceil(size / 132); }

}  // namespace

TEST_SUITE("curves") {
  TEST_CASE("a polynomial is one piece with its coefficients") {
    const Curve line = curve_of({"batch", 8}, straight);
    REQUIRE(line.pieces.size() == 1);
    CHECK(line.pieces[0].first == 8);
    CHECK(line.pieces[0].last == 8 * 32);
    REQUIRE(line.pieces[0].coefficients.size() == 2);
    CHECK(line.pieces[0].coefficients[0] == doctest::Approx(100));
    CHECK(line.pieces[0].coefficients[1] == doctest::Approx(3));
    const Curve parabola = curve_of({"seq", 64}, square);
    REQUIRE(parabola.pieces.size() == 1);
    CHECK(parabola.pieces[0].coefficients.back() == doctest::Approx(0.25));
    CHECK(parabola.pieces[0].largest_error < 1e-9);
  }

  TEST_CASE("a curve bends where the step stops being host-bound") {
    const Curve curve = curve_of({"batch", 8}, hinge);
    REQUIRE(curve.pieces.size() == 2);
    REQUIRE(curve.pieces[0].coefficients.size() == 1);
    CHECK(curve.pieces[0].coefficients[0] == doctest::Approx(300).epsilon(0.01));
    CHECK(!curve.pieces[0].jumps);
    CHECK(curve.pieces[0].last >= 100);
    CHECK(3 * curve.pieces[0].last - 1 <= 300 * 1.0205);
    CHECK(curve.pieces[1].coefficients[1] == doctest::Approx(3).epsilon(0.02));
  }

  TEST_CASE("the exact first size of each step is found") {
    const Curve curve = curve_of({"tokens", 128}, waves);
    std::vector<std::int64_t> ends;
    for (const CurvePiece& piece : curve.pieces)
      if (piece.jumps) ends.push_back(piece.last);
    REQUIRE(ends.size() >= 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(ends[i] == 132 * static_cast<std::int64_t>(i + 1));
    for (std::size_t i = 0; i < 4; ++i) {
      REQUIRE(curve.pieces[i].coefficients.size() == 1);
      CHECK(curve.pieces[i].at(1) == doctest::Approx(400 * (i + 1)));
    }
  }

  TEST_CASE("the stated error holds at sizes that were not fitted") {
    for (double (*figure)(double) : {straight, square, hinge})
      CHECK(largest_error(curve_of({"batch", 16}, figure), figure) <= 0.0201);
  }

  TEST_CASE("a curve ends at the variable's range, or where there is no value") {
    const Curve ranged = curve_of({.name = "seq", .start = 64, .most = 300, .round = 32}, straight);
    CHECK(ranged.pieces.back().last == 288);
    for (const auto& [size, value] : ranged.measured) CHECK(size % 32 == 0);
    const Curve refused = find_curve({"batch", 8}, [](std::int64_t size) {
      return size <= 50 ? std::optional(straight(static_cast<double>(size))) : std::nullopt;
    });
    CHECK(refused.pieces.back().last <= 50);
    CHECK(refused.pieces.back().last > 40);
    const Curve none =
        find_curve({"batch", 8}, [](std::int64_t) { return std::optional<double>(); });
    CHECK(none.pieces.empty());
  }
}

}  // namespace symprof::test
