// A calibration's file, and the device fitted from it.
#include "measure/calibration.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "profile/time/sweep.h"
#include "profile/time/time_model.h"
#include "session/calibrate.h"
#include "session/devices.h"
#include "tests/support/exported_archive.h"

namespace symprof::measure::calibration_test {
namespace {

constexpr double bytes_per_us = 1e4, floor_us = 3;

DeviceFacts facts_of_cpu() {
  return {.device = "cpu",
          .processor = "A processor",
          .torch_version = "2.13.0",
          .driver_version = {},
          .date = "2026-11-23",
          .threads = 2,
          .memory_bytes = std::int64_t{1} << 34,
          .l2_bytes = 1 << 22,
          .memory_bytes_per_second = bytes_per_us * 1e6,
          .flops_per_second = {{"float32", 2e11}},
          .clock_hz = 2e9,
          .host_call_us = 0.5};
}

/// A CPU whose element-wise operators take a floor and then its bandwidth.
Calibration made_up() {
  Calibration calibration{.facts = facts_of_cpu(), .kernels = {}, .repeated = {}};
  for (const profile::Kernel& kernel :
       profile::sweep_kernels(profile::TimeClass::elementwise, {.bytes = 1 << 28, .flops = 0})) {
    const double bytes = static_cast<double>(std::get<profile::StreamWork>(kernel.work).bytes);
    calibration.kernels.push_back({kernel, floor_us + bytes / bytes_per_us});
  }
  return calibration;
}

}  // namespace

TEST_SUITE("calibration") {
  TEST_CASE("a calibration file round-trips, and is a kernels file") {
    const Calibration before = made_up();
    const std::string json = to_json(before);
    const Calibration after = parse_calibration(json, "kernels.json");
    CHECK(to_json(after) == json);
    CHECK(after.facts.processor == before.facts.processor);
    CHECK(after.facts.flops_per_second == before.facts.flops_per_second);
    CHECK(after.facts.memory_bytes == before.facts.memory_bytes);
    CHECK(after.facts.driver_version.empty());
    CHECK(!after.facts.power_watts);
    CHECK(profile::parse_measurements(json, "kernels.json").size() == before.kernels.size());
    CHECK_THROWS_AS(parse_calibration(json.substr(0, json.size() / 2), "kernels.json"), Error);
  }

  TEST_CASE("a fitted device's file gives the measured times") {
    const Calibration calibration = made_up();
    const CalibratedDevice device = fit_device(calibration, device_like(calibration.facts), "mine");
    REQUIRE(device.fitted.size() == 1);
    CHECK(device.fitted[0].kernels == calibration.kernels.size());
    CHECK(device.fitted[0].shortest_us == doctest::Approx(calibration.kernels.front().us));
    const test::TemporaryFile file("mine.json", device.json);
    const DeviceSpec spec = load_device(file.path());
    CHECK(spec.name == "mine");
    CHECK(spec.is_cpu);
    CHECK(spec.host_call_us == 0.5);
    CHECK(spec.source.find("2026-11-23") != std::string::npos);
    profile::TimeModel model(spec, profile::load_kernel_times(spec.kernel_times), {});
    for (const profile::MeasuredKernel& row : calibration.kernels) {
      const profile::TimeEstimate estimate = model.estimate(row.kernel).value();
      CHECK(std::abs(std::log(estimate.us / row.us)) < 0.1);
      CHECK(estimate.basis == profile::TimeBasis::calibrated);
    }
  }

  TEST_CASE("repeated kernels show the variation of the device's speed") {
    Calibration calibration = made_up();
    CHECK(!speed_half_width({}));
    const profile::Kernel first = calibration.kernels[0].kernel,
                          second = calibration.kernels[1].kernel;
    // The means of both are 1.5, 0.5, 0.5 and -1 times this, and six times 0: nine of ten are
    // within it.
    constexpr double change = 0.05;
    for (int i = 0; i < 10; ++i) {
      const double first_change = i == 0 ? 3 * change : i < 3 ? change : 0;
      const double second_change = i == 9 ? -2 * change : 0;
      calibration.repeated.push_back({first, 100 * std::exp(first_change)});
      calibration.repeated.push_back({second, 7 * std::exp(second_change)});
    }
    CHECK(speed_half_width(calibration.repeated).value() == doctest::Approx(change));
    const Calibration after = parse_calibration(to_json(calibration), "kernels.json");
    CHECK(after.repeated.size() == calibration.repeated.size());
    CHECK(after.kernels.size() == calibration.kernels.size());
    const CalibratedDevice device = fit_device(after, device_like(after.facts), "mine");
    const test::TemporaryFile file("mine.json", device.json);
    constexpr double from_hour_to_hour = 0.12;
    CHECK(load_device(file.path()).speed_half_width.value() ==
          doctest::Approx(std::hypot(change, from_hour_to_hour)));
    CHECK_THROWS_AS(
        parse_calibration(R"({"schema": "symprof.kernels/1", "kernels": [], "repeated": 7})",
                          "k.json"),
        Error);
  }

  TEST_CASE("a link without a data sheet is as fast as its fastest transfer") {
    Calibration calibration{.facts = {.device = "cuda:0",
                                      .processor = "NVIDIA H200",
                                      .torch_version = "2.13.0",
                                      .driver_version = "580",
                                      .date = "2026-11-23"},
                            .kernels = {},
                            .repeated = {}};
    for (const profile::Kernel& kernel :
         profile::sweep_kernels(profile::TimeClass::transfer, {.bytes = 1 << 28, .flops = 0})) {
      const double bytes = static_cast<double>(std::get<profile::StreamWork>(kernel.work).bytes);
      calibration.kernels.push_back({kernel, floor_us + bytes / bytes_per_us});
    }
    const auto largest = static_cast<double>(
        std::get<profile::StreamWork>(calibration.kernels.back().kernel.work).bytes);
    DeviceSpec like = device_like(calibration.facts);
    const auto link_with = [&](std::optional<double> of_data_sheet) {
      like.pcie_bytes_per_second = of_data_sheet;
      const test::TemporaryFile file("mine.json", fit_device(calibration, like, "mine").json);
      const DeviceSpec spec = load_device(file.path());
      profile::TimeModel model(spec, profile::load_kernel_times(spec.kernel_times), {});
      const profile::Kernel kernel = calibration.kernels.back().kernel;
      CHECK(model.estimate(kernel)->us ==
            doctest::Approx(calibration.kernels.back().us).epsilon(0.1));
      return spec.pcie_bytes_per_second.value();
    };
    CHECK(link_with(16e9) == 16e9);
    CHECK(link_with(std::nullopt) ==
          doctest::Approx(largest / (floor_us + largest / bytes_per_us) * 1e6));
  }

  TEST_CASE("classes with too few kernels are reported, missing facts are refused") {
    Calibration calibration = made_up();
    calibration.kernels.resize(4);
    const CalibratedDevice device = fit_device(calibration, device_like(calibration.facts), "mine");
    CHECK(device.fitted.empty());
    REQUIRE(device.left_out.size() == 1);
    CHECK(device.left_out[0] == profile::TimeClass::elementwise);
    calibration.facts.clock_hz.reset();
    CHECK_THROWS_AS(fit_device(calibration, find_device("h200"), "mine"), Error);
  }

  TEST_CASE("a GPU's file keeps unmeasured values of the base device with its name") {
    Calibration calibration{.facts = {.device = "cuda:0",
                                      .processor = "NVIDIA H200",
                                      .torch_version = "2.11.0",
                                      .driver_version = "580",
                                      .date = "2026-11-23",
                                      .host_call_us = 9,
                                      .launch_us = 1.5,
                                      .graph_launch_us = 0.75},
                            .kernels = made_up().kernels,
                            .repeated = {}};
    const DeviceSpec like = device_like(calibration.facts);
    CHECK(like.name == "h200");
    const CalibratedDevice device = fit_device(calibration, like, "mine");
    const test::TemporaryFile file("mine.json", device.json);
    const DeviceSpec spec = load_device(file.path());
    CHECK(!spec.is_cpu);
    CHECK(spec.launch_us == 1.5);
    CHECK(spec.graph_launch_us == 0.75);
    CHECK(spec.host_call_us.value() + spec.host_launch_us.value() == doctest::Approx(9));
    CHECK(spec.memory_bytes == like.memory_bytes);
    const auto own = profile::load_kernel_times(spec.kernel_times);
    const auto shipped = profile::load_kernel_times(like.kernel_times);
    const auto at = [](profile::TimeClass one) { return static_cast<std::size_t>(one); };
    CHECK(own[at(profile::TimeClass::softmax)]->coefficients ==
          shipped[at(profile::TimeClass::softmax)]->coefficients);
    CHECK(own[at(profile::TimeClass::elementwise)]->points.size() == calibration.kernels.size());
    calibration.facts.processor = "NVIDIA X";
    CHECK_THROWS_AS(device_like(calibration.facts), Error);
  }
}

}  // namespace symprof::measure::calibration_test
