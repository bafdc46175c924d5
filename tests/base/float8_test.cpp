#include "base/float8.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace symprof;

namespace {

constexpr DType types[] = {DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2,
                           DType::float8_e5m2fnuz, DType::float8_e8m0fnu};

}  // namespace

TEST_SUITE("float8") {
  TEST_CASE("the largest and smallest numbers match the papers") {
    CHECK(float8_value(DType::float8_e4m3fn, 0x7E) == 448);
    CHECK(float8_value(DType::float8_e4m3fn, 0x01) == std::ldexp(1.0, -9));
    CHECK(float8_value(DType::float8_e5m2, 0x7B) == 57344);
    CHECK(float8_value(DType::float8_e5m2, 0x01) == std::ldexp(1.0, -16));
    CHECK(float8_value(DType::float8_e4m3fnuz, 0x7F) == 240);
    CHECK(float8_value(DType::float8_e5m2fnuz, 0x7F) == 57344);
    CHECK(float8_value(DType::float8_e8m0fnu, 0) == std::ldexp(1.0, -127));
  }

  TEST_CASE("NaN codes") {
    CHECK(std::isnan(float8_value(DType::float8_e4m3fn, 0x7F)));
    CHECK(std::isnan(float8_value(DType::float8_e4m3fn, 0xFF)));
    CHECK(std::isinf(float8_value(DType::float8_e5m2, 0x7C)));
    CHECK(std::isnan(float8_value(DType::float8_e5m2, 0x7D)));
    CHECK(std::isnan(float8_value(DType::float8_e4m3fnuz, 0x80)));
    CHECK(std::isnan(float8_value(DType::float8_e5m2fnuz, 0x80)));
    CHECK(std::isnan(float8_value(DType::float8_e8m0fnu, 0xFF)));
    for (const DType dtype : types)
      CHECK(std::isnan(float8_value(dtype, nearest_float8(dtype, std::nan("")))));
  }

  TEST_CASE("each number rounds to itself, and the middle of two neighbors to the even one") {
    for (const DType dtype : types)
      for (int bits = 0; bits < 256; ++bits) {
        const auto byte = static_cast<std::uint8_t>(bits);
        const double value = float8_value(dtype, byte);
        if (!std::isfinite(value)) continue;
        CAPTURE(bits);
        CHECK(nearest_float8(dtype, value) == byte);
        const double next =
            bits < 255 ? float8_value(dtype, static_cast<std::uint8_t>(bits + 1)) : NAN;
        if (!std::isfinite(next) || std::signbit(next) != std::signbit(value)) continue;
        CHECK(nearest_float8(dtype, (value + next) / 2) % 2 == 0);
      }
    CHECK(float8_value(DType::float8_e4m3fn, nearest_float8(DType::float8_e4m3fn, 1e9)) == 448);
  }
}
