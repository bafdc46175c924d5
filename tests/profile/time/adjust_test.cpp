// Times of a class adjusted by a few measurements: the expectations are the formula's own times,
// with another launch and other rates.
#include "profile/time/adjust.h"

#include <doctest/doctest.h>

#include <cmath>

#include "profile/time/time_model.h"
#include "tests/support/source_folder.h"

namespace symprof::profile::adjust_test {
namespace {

DeviceSpec device() { return find_device("h100", test::source_folder() + "/devices"); }

KernelTimes data_sheet() {
  return load_kernel_times(test::source_folder() + "/devices/time/data_sheet.json");
}

Kernel stream(double bytes) {
  return {TimeClass::elementwise, StreamWork{static_cast<std::int64_t>(bytes)}};
}

/// What the data sheet says, times exp(`log`).
MeasuredKernel measured(const Kernel& kernel, double log) {
  TimeModel model(device(), {}, data_sheet());
  return {kernel, model.estimate(kernel).value().us * std::exp(log)};
}

TimeModel adjusted(const std::vector<MeasuredKernel>& rows) {
  const KernelTimes own(time_classes), sheet = data_sheet();
  KernelTimes times(time_classes);
  const auto index = static_cast<std::size_t>(TimeClass::elementwise);
  times[index] = adjust_class(device(), TimeClass::elementwise, rows, {own, sheet}, "rows");
  REQUIRE(times[index]);
  return {device(), parse_kernel_times(to_json(times), "times.json"), sheet};
}

/// Twelve sizes out of L2, a third of an octave apart.
std::vector<MeasuredKernel> large(double log) {
  std::vector<MeasuredKernel> rows;
  for (int i = 0; i < 12; ++i) rows.push_back(measured(stream(2e8 * std::exp2(i / 3.0)), log));
  return rows;
}

TEST_SUITE("profile") {
  TEST_CASE("sizes that were not measured take what the measured ones are off") {
    for (const double log : {-0.3, 0.0, 0.4}) {
      CAPTURE(log);
      TimeModel model = adjusted(large(log));
      const Kernel between = stream(1.1e9), beyond = stream(1.3e10);
      CHECK(std::log(model.estimate(between)->us / measured(between, log).us) ==
            doctest::Approx(0).epsilon(0.03));
      CHECK(std::abs(std::log(model.estimate(beyond)->us / measured(beyond, log).us)) < 0.06);
      CHECK(model.estimate(between)->basis == TimeBasis::calibrated);
    }
  }

  TEST_CASE("long kernels say nothing about the launch") {
    TimeModel model = adjusted(large(0.4));
    const Kernel tiny = stream(1000);
    CHECK(std::abs(std::log(model.estimate(tiny)->us / measured(tiny, 0).us)) < 0.1);
  }

  TEST_CASE("a kernel that was measured takes what it took, however far off it was") {
    const MeasuredKernel row = measured(stream(5e8), 1.5);
    TimeModel model = adjusted({row});
    CHECK(std::abs(std::log(model.estimate(row.kernel)->us / row.us)) < 0.5);
  }

  TEST_CASE("the interval is the narrower the better measurements agree") {
    const auto half = [](const std::vector<MeasuredKernel>& rows) {
      const TimeEstimate one = adjusted(rows).estimate(stream(1.1e9)).value();
      return std::log(one.high_us / one.us);
    };
    std::vector<MeasuredKernel> scattered = large(0);
    for (std::size_t i = 0; i < scattered.size(); ++i)
      scattered[i].us *= std::exp(i % 2 == 0 ? 0.3 : -0.3);
    TimeModel before(device(), {}, data_sheet());
    const TimeEstimate known = before.estimate(stream(1.1e9)).value();
    CHECK(half(large(0)) < std::log(known.high_us / known.us));
    CHECK(half(scattered) > 2 * half(large(0)));
    // One measurement that was right does not narrow it much.
    CHECK(half({measured(stream(1e12), 0)}) > 0.8 * std::log(known.high_us / known.us));
  }

  TEST_CASE("a class without times has none afterwards") {
    const KernelTimes own(time_classes), sheet(time_classes);
    CHECK_FALSE(
        adjust_class(device(), TimeClass::elementwise, large(0), {own, sheet}, "rows").has_value());
  }
}

}  // namespace
}  // namespace symprof::profile::adjust_test
