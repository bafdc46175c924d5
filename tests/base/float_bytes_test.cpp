#include "base/float_bytes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

TEST_SUITE("float_bytes") {
  using namespace symprof;

  TEST_CASE("bytes of constants are rounded as in PyTorch") {
    const auto converted = [](float value, DType to) {
      std::vector<std::byte> bytes(sizeof value);
      std::memcpy(bytes.data(), &value, sizeof value);
      std::uint16_t result = 0;
      std::memcpy(&result, convert_floats(bytes, DType::float32, to).data(), sizeof result);
      return result;
    };
    CHECK(converted(1.0F, DType::float16) == 0x3c00);
    CHECK(converted(-2.0F, DType::float16) == 0xc000);
    CHECK(converted(65504.0F, DType::float16) == 0x7bff);
    CHECK(converted(65520.0F, DType::float16) == 0x7c00);
    CHECK(converted(2049.0F, DType::float16) == converted(2048.0F, DType::float16));
    CHECK(converted(0x1p-24F, DType::float16) == 1);
    CHECK(converted(1.0F, DType::bfloat16) == 0x3f80);
    CHECK(converted(-INFINITY, DType::bfloat16) == 0xff80);
    CHECK(converted(1.00390625F, DType::bfloat16) == 0x3f80);
    std::vector<std::byte> half = {std::byte{0x01}, std::byte{0x3c}};
    float back = 0;
    std::memcpy(&back, convert_floats(half, DType::float16, DType::float32).data(), sizeof back);
    CHECK(back == 1.0F + 0x1p-10F);
  }
}
