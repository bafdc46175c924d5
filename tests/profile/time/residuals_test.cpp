// Interpolated residuals against what a Gaussian process of one or two rows is by hand.
#include "profile/time/residuals.h"

#include <doctest/doctest.h>

#include <cmath>

namespace symprof::profile {
namespace {

constexpr ResidualKernel kernel{.length = 2, .deviation = 0.08, .noise = 0.06};
constexpr double variance = 0.08 * 0.08, noise = 0.06 * 0.06;

}  // namespace

TEST_SUITE("time_residuals") {
  TEST_CASE("without rows nothing is known") {
    const ResidualAt nothing = residual_at({}, {1, 2}, kernel);
    CHECK(nothing.mean == 0);
    CHECK(nothing.deviation == doctest::Approx(std::sqrt(variance + noise)));
  }

  TEST_CASE("one row corrects itself by its share of the variance, and others by their distance") {
    const std::vector<ResidualPoint> points = {{{10, 10}, 0.2}};
    const double share = variance / (variance + noise);
    const ResidualAt there = residual_at(points, {10, 10}, kernel);
    CHECK(there.mean == doctest::Approx(0.2 * share));
    CHECK(there.deviation == doctest::Approx(std::sqrt(variance + noise - variance * share)));
    const double covariance = std::exp(-5.0 / 2);
    const ResidualAt further = residual_at(points, {13, 14}, kernel);
    CHECK(further.mean == doctest::Approx(0.2 * share * covariance));
    CHECK(further.deviation == doctest::Approx(std::sqrt(
                                   variance + noise - variance * share * covariance * covariance)));
  }

  TEST_CASE("two rows at one place count as their mean with half the noise") {
    const std::vector<ResidualPoint> points = {{{5}, 0.1}, {{5}, 0.3}};
    CHECK(residual_at(points, {5}, kernel).mean ==
          doctest::Approx(0.2 * variance / (variance + noise / 2)));
  }

  TEST_CASE("an outlier is cut, and rows of another class of sizes are left out") {
    const double share = variance / (variance + noise);
    CHECK(residual_at({{{5}, 4}}, {5}, kernel).mean == doctest::Approx(0.35 * share));
    CHECK(residual_at({{{5, 5}, 0.2}}, {5}, kernel).mean == 0);
  }
}

}  // namespace symprof::profile
