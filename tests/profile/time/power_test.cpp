// The clock within a board's power.
#include "profile/time/power.h"

#include <doctest/doctest.h>

#include <cmath>

namespace symprof::profile::power_test {
namespace {

/// A GPU of the process of power_model's energies, with memory that takes a tenth of its power.
DeviceSpec board(double watts) {
  DeviceSpec device;
  device.power_watts = watts;
  device.process_nm = 12;
  device.memory_type = "GDDR";
  device.memory_bytes_per_second = 0.1 * watts / power_model().gddr_pj * 1e12;
  return device;
}

}  // namespace

TEST_SUITE("power") {
  TEST_CASE(
      "arithmetic gets what memory and the rest leave, and power goes as the clock's square") {
    const DeviceSpec device = board(100);
    const double available = 100 * (1 - power_model().rest - 0.1);
    // FLOPs per microsecond that need exactly the available power, and four times as many.
    const double fitting = available / power_model().fp32_pj * 1e6;
    CHECK(sustained_clock(device, TimeClass::product_fp32, fitting) == doctest::Approx(1));
    CHECK(sustained_clock(device, TimeClass::product_fp32, 4 * fitting) == doctest::Approx(0.5));
    CHECK(sustained_clock(device, TimeClass::elementwise, 0) == 1);
    const double ratio = power_model().fp32_pj / power_model().tensor_pj;
    CHECK(sustained_clock(device, TimeClass::product_16bit, 4 * fitting * ratio) ==
          doctest::Approx(0.5));
    CHECK(sustained_clock(device, TimeClass::product_tf32, 2 * fitting * ratio) ==
          doctest::Approx(0.5));
  }

  TEST_CASE("a smaller process needs less; without one nobody knows") {
    DeviceSpec device = board(100);
    const double rate = 4 * 80 / power_model().fp32_pj * 1e6;
    const double at_12 = sustained_clock(device, TimeClass::product_fp32, rate);
    device.process_nm = 6;
    CHECK(sustained_clock(device, TimeClass::product_fp32, rate) ==
          doctest::Approx(at_12 * std::pow(2, power_model().process_power / 2)));
    device.process_nm.reset();
    CHECK(sustained_clock(device, TimeClass::product_fp32, rate) == 1);
  }

  TEST_CASE("an owner's limits are compared with the board's own") {
    DeviceSpec device = board(100);
    device.clock_hz = 1e9;
    const double rate = 4 * 80 / power_model().fp32_pj * 1e6;
    CHECK(limited_clock(device, TimeClass::product_fp32, rate) == 1);
    device.clock_limit_hz = 0.25e9;  // The board alone sustains a half.
    CHECK(sustained_clock(device, TimeClass::product_fp32, rate) == doctest::Approx(0.25));
    CHECK(limited_clock(device, TimeClass::product_fp32, rate) == doctest::Approx(0.5));
    CHECK(limited_clock(device, TimeClass::elementwise, 0) == doctest::Approx(0.25));
    device.clock_limit_hz.reset();
    device.power_limit_watts = 50;  // Of which memory and the rest take 15.
    CHECK(limited_clock(device, TimeClass::product_fp32, rate) ==
          doctest::Approx(std::sqrt(35.0 / 80)));
  }
}

}  // namespace symprof::profile::power_test
