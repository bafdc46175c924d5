// Interval widths: the fit recovers known exponents from synthetic errors.
#include "profile/time/width.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "base/error.h"

namespace symprof::profile::width_test {
namespace {

/// Errors of Laplace's distribution, as wide as `spread` has it.
std::vector<JudgedRow> made_up(const Spread& spread, int count) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> even(0, 1);
  std::exponential_distribution<double> error(1);
  std::vector<JudgedRow> rows;
  rows.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const Uncertainty uncertainty{0.2, 0.2 * std::exp(-2 * even(random)),
                                  std::exp(even(random) - 0.5), even(random)};
    rows.push_back({error(random) * half_width(0.5, spread, uncertainty), uncertainty, i % 5});
  }
  return rows;
}

}  // namespace

TEST_SUITE("time_width") {
  TEST_CASE("the half width is the product of its powers") {
    const Uncertainty uncertainty{0.2, 0.1, 1.5, 0.25};
    CHECK(half_width(3, {}, uncertainty) == doctest::Approx(3 * 0.1 * 1.5));
    CHECK(half_width(3, {2, 0.5, -1}, uncertainty) ==
          doctest::Approx(3 * 0.2 * 0.25 * std::sqrt(1.5) * std::exp(-0.25)));
    CHECK(half_width(0.3, {2, 2, 0}, {}) == doctest::Approx(0.3));  // Without points.
  }

  TEST_CASE(
      "exponents are recovered from many rows, and stay default if rows do not determine them") {
    const Spread found = fit_spread(made_up({1.6, 0.4, -0.8}, 20000));
    CHECK(found.deviation == doctest::Approx(1.6).epsilon(0.05));
    CHECK(found.scatter == doctest::Approx(0.4).epsilon(0.1));
    CHECK(found.launch == doctest::Approx(-0.8).epsilon(0.1));
    const Spread of_none = fit_spread({});
    CHECK(of_none.deviation == 1);
    CHECK(of_none.launch == 0);
    const Spread of_same = fit_spread(std::vector<JudgedRow>(100, {0.1, {0.2, 0.2, 1, 0}, 0}));
    CHECK(of_same.deviation == doctest::Approx(1));
    CHECK(of_same.scatter == doctest::Approx(1));
  }

  TEST_CASE("few rows change the exponents less than many, and none falls below 0") {
    const Spread few = fit_spread(made_up({2, 1, 0}, 12)),
                 many = fit_spread(made_up({2, 1, 0}, 4000));
    CHECK(std::abs(few.deviation - 1) < std::abs(many.deviation - 1));
    CHECK(fit_spread(made_up({-1, 1, 0}, 4000)).deviation == 0);
  }

  TEST_CASE("errors in half widths have one scale for all rows") {
    const std::vector<JudgedRow> rows = made_up({1.6, 0.4, -0.8}, 6000);
    const std::vector<double> errors = errors_in_half_widths(rows);
    double narrow = 0, wide = 0;
    int narrow_rows = 0, wide_rows = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool is_narrow = rows[i].uncertainty.deviation < 0.07;
      (is_narrow ? narrow : wide) += errors[i];
      ++(is_narrow ? narrow_rows : wide_rows);
    }
    CHECK(narrow / narrow_rows == doctest::Approx(wide / wide_rows).epsilon(0.08));
  }

  TEST_CASE("a file's spread is read, unknown members are refused") {
    const std::string before =
        R"({"classes": {"copy": {"coefficients": {"floor": 2, "memory": 1, "cache": 3, "residence": 1,
            "fill": 1}, "interval": 2, "spread": )";
    const Spread read =
        parse_kernel_times(before + R"({"deviation": 1.5, "launch": -0.5}}}})", "times.json")
            .at(static_cast<std::size_t>(TimeClass::copy))
            ->spread;
    CHECK(read.deviation == 1.5);
    CHECK(read.scatter == 1);
    CHECK(read.launch == -0.5);
    CHECK_THROWS_AS(parse_kernel_times(before + R"({"speed": 1}}}})", "times.json"), Error);
    CHECK_THROWS_AS(parse_kernel_times(before + R"(3}}})", "times.json"), Error);
  }
}

}  // namespace symprof::profile::width_test
