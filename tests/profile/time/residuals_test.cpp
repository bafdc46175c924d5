// Interpolated residuals against a Gaussian process of one or two rows computed by hand.
#include "profile/time/residuals.h"

#include <doctest/doctest.h>

#include <cmath>

namespace symprof::profile {
namespace {

constexpr ResidualKernel kernel{.length = 2, .deviation = 0.08, .noise = 0.06};
constexpr double variance = 0.08 * 0.08, noise = 0.06 * 0.06;

}  // namespace

TEST_SUITE("time_residuals") {
  TEST_CASE("without rows the residual is the prior") {
    const ResidualAt nothing = residual_at({}, {1, 2}, kernel);
    CHECK(nothing.mean == 0);
    CHECK(nothing.deviation == doctest::Approx(std::sqrt(variance + noise)));
  }

  TEST_CASE("one row corrects itself by its variance share, others by distance") {
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

  TEST_CASE("the scatter combines neighbors' leave-one-out errors with two prior rows") {
    const double squared = 0.3 * 0.3 / (variance + noise);
    CHECK(residual_at({}, {5}, kernel).scatter == 1);
    CHECK(residual_at({{{5}, 0.3}}, {5}, kernel).scatter ==
          doctest::Approx(std::sqrt((2 + squared) / (2 + 1))));
    const double share = std::exp(-2 * 4.0 / 2);  // Its square.
    CHECK(residual_at({{{5}, 0.3}}, {9}, kernel).scatter ==
          doctest::Approx(std::sqrt((2 + share * squared) / (2 + share))));
    // Of two at one place, each has what the other says.
    const double alone = variance + noise, said = 0.1 * variance / alone;
    const double other = (0.3 - said) * (0.3 - said) / (alone - variance * variance / alone);
    const double back = (0.1 - 3 * said) * (0.1 - 3 * said) / (alone - variance * variance / alone);
    CHECK(residual_at({{{5}, 0.1}, {{5}, 0.3}}, {5}, kernel).scatter ==
          doctest::Approx(std::sqrt((2 + other + back) / (2 + 2))));
    CHECK(root_mean_square({{{5}, 0.1}, {{6}, -0.3}, {{7}, 2}}, kernel) ==
          doctest::Approx(std::sqrt((0.01 + 0.09 + 0.35 * 0.35) / 3)));
  }

  TEST_CASE("an outlier is clipped, and rows with other sizes are ignored") {
    const double share = variance / (variance + noise);
    CHECK(residual_at({{{5}, 4}}, {5}, kernel).mean == doctest::Approx(0.35 * share));
    CHECK(residual_at({{{5, 5}, 0.2}}, {5}, kernel).mean == 0);
  }
}

}  // namespace symprof::profile
