// Fits recover known coefficients from synthetic measurements; intervals cover held-out rows.
#include "profile/time/fit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/least_squares.h"
#include "profile/time/time_model.h"
#include "tests/support/source_folder.h"

namespace symprof::profile::fit_test {
namespace {

DeviceSpec device() { return find_device("h200", test::source_folder() + "/devices"); }

/// Streams from 4 KiB to 4 GiB, three in an octave: the launch, the cache and the memory decide.
std::vector<Kernel> streams() {
  std::vector<Kernel> kernels;
  kernels.reserve(61);
  for (int i = 0; i <= 60; ++i)
    kernels.push_back(
        {TimeClass::elementwise, StreamWork{static_cast<std::int64_t>(4096 * std::exp2(i / 3.0))}});
  return kernels;
}

std::vector<Kernel> products() {
  std::vector<Kernel> kernels;
  kernels.reserve(3 * 9 * 4);
  for (const std::int64_t k : {256, 1024, 4096})
    for (std::int64_t m = 16; m <= 4096; m *= 2)
      for (const std::int64_t n : {192, 768, 3072, 8192})
        kernels.push_back({TimeClass::product_fp32, ProductWork{1, m, n, k, 4, 4, 1}});
  return kernels;
}

/// The formula with `coefficients`, times exp(`spread` · a normal number).
std::vector<MeasuredKernel> made_up(const std::vector<Kernel>& kernels,
                                    const std::vector<double>& coefficients, double spread) {
  const TimeModel model(device(), {}, {}, Floor::measured);
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0, 1);
  std::vector<MeasuredKernel> rows;
  rows.reserve(kernels.size());
  for (const Kernel& kernel : kernels)
    rows.push_back(
        {kernel, model.formula_us(kernel, coefficients) * std::exp(spread * normal(random))});
  return rows;
}

/// The fit of `rows`, after it was written to a file's text and read from it.
TimeModel read_back(TimeClass time_class, const std::vector<MeasuredKernel>& rows) {
  KernelTimes times(time_classes);
  times[static_cast<std::size_t>(time_class)] =
      fit_class(device(), time_class, rows, "made-up rows");
  return {device(), parse_kernel_times(to_json(times), "times.json"), {}, Floor::measured};
}

std::string refusal(TimeClass time_class, const std::vector<MeasuredKernel>& rows) {
  try {
    fit_class(device(), time_class, rows, "");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const std::vector<double> true_stream{7, 0.6, 4, 0.4, 0.9};

}  // namespace

TEST_SUITE("time_fit") {
  TEST_CASE("least squares fits a line, ignores an outlier and stops at a bound") {
    // y = a + b x with a = 2, b = -1 at x = 0 … 9; the last value is 100 above the line.
    const auto errors = [](std::span<const double> at) {
      std::vector<double> result;
      result.reserve(10);
      for (int x = 0; x < 10; ++x)
        result.push_back(at[0] + at[1] * x - (2.0 - x + (x == 9 ? 100 : 0)));
      return result;
    };
    const auto free = least_squares({{0, -10, 10}, {0, -10, 10}}, errors);
    CHECK(free[0] == doctest::Approx(2).epsilon(0.02));
    CHECK(free[1] == doctest::Approx(-1).epsilon(0.02));
    const auto bound = least_squares({{0, -10, 10}, {0, -0.5, 10}}, errors);
    CHECK(bound[1] == doctest::Approx(-0.5));
  }

  TEST_CASE("a fit recovers the coefficients of synthetic streams") {
    const ClassTimes times = fit_class(device(), TimeClass::elementwise,
                                       made_up(streams(), true_stream, 0), "made-up rows");
    for (std::size_t i = 0; i < true_stream.size(); ++i)
      CHECK(times.coefficients[i] == doctest::Approx(true_stream[i]).epsilon(0.05));
    CHECK(times.is_calibrated);
    CHECK(times.fitted_on == "made-up rows");
    CHECK(times.points.size() == streams().size());
  }

  TEST_CASE("a file of synthetic products estimates products between the measured ones") {
    const std::vector<double> truth{6, 0.7, 25, 0.7, 30, 0.8, 3, 0.05, 0.6, 0.8, 0.05};
    TimeModel model = read_back(TimeClass::product_fp32, made_up(products(), truth, 0));
    for (const ProductWork& work :
         {ProductWork{1, 384, 1536, 512, 4, 4, 1}, ProductWork{1, 24, 4096, 2048, 4, 4, 1},
          ProductWork{1, 3000, 3000, 3000, 4, 4, 1}}) {
      const Kernel kernel{TimeClass::product_fp32, work};
      const TimeEstimate estimate = model.estimate(kernel).value();
      CHECK(estimate.us == doctest::Approx(model.formula_us(kernel, truth)).epsilon(0.05));
      CHECK(estimate.basis == TimeBasis::calibrated);
    }
  }

  TEST_CASE("the interval covers 90 % of held-out measurements") {
    std::vector<MeasuredKernel> seen, unseen;
    const auto rows = made_up(products(), {6, 0.7, 25, 0.7, 30, 0.8, 3, 0.05, 0.6, 0.8, 0.05}, 0.1);
    for (std::size_t i = 0; i < rows.size(); ++i) (i % 2 == 0 ? seen : unseen).push_back(rows[i]);
    TimeModel model = read_back(TimeClass::product_fp32, seen);
    double within = 0;
    for (const MeasuredKernel& row : unseen) {
      const TimeEstimate estimate = model.estimate(row.kernel).value();
      within += estimate.low_us <= row.us && row.us <= estimate.high_us;
    }
    const double share = within / static_cast<double>(unseen.size());
    // 54 rows at 0.9: two standard deviations are 2 · sqrt(0.9 · 0.1 / 54) = 0.08, and the interval
    // itself comes from as many.
    CHECK(share > 0.9 - 0.12);
    CHECK(share < 1);
  }

  TEST_CASE("too few rows, rows of another class and rows without a time are refused") {
    auto rows = made_up(streams(), true_stream, 0);
    rows.resize(fewest_measurements(TimeClass::elementwise) - 1);
    CHECK(refusal(TimeClass::elementwise, rows).find("its fit needs 8") != std::string::npos);
    rows = made_up(streams(), true_stream, 0);
    CHECK(refusal(TimeClass::copy, rows).find("a measurement of elementwise") != std::string::npos);
    rows[3].us = 0;
    CHECK(refusal(TimeClass::elementwise, rows).find("a measurement of 0 us") != std::string::npos);
    // Of two launches the second takes 2 us on an H200, which is all that was measured.
    rows[3].us = device().launch_us.value(), rows[3].kernel.launches = 2;
    CHECK(refusal(TimeClass::elementwise, rows).find("a measurement of 0 us") != std::string::npos);
    // An H200 has no rate that the class needs: a device's file without the type.
    DeviceSpec without = device();
    without.flops_per_second.clear();
    CHECK_THROWS_AS(
        fit_class(without, TimeClass::product_fp32,
                  made_up(products(), {6, 0.7, 25, 0.7, 30, 0.8, 3, 0.05, 0.6, 0.8, 0.05}, 0), ""),
        Error);
  }
}

}  // namespace symprof::profile::fit_test
