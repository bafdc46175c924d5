#include "base/packed_bits.h"

#include <doctest/doctest.h>

TEST_SUITE("packed_bits") {
  using namespace symprof;

  // The 4-bit numbers are 0 to 15, the 2-bit numbers 0 to 3.
  TEST_CASE("the first number is in the lowest bits, and signs are kept") {
    std::vector<std::byte> packed;
    for (int i = 0; i < 16; i += 2) packed.push_back(static_cast<std::byte>(i | (i + 1) << 4));
    const auto plain = unpack_bits(packed, DType::uint4, 16);
    const auto with_sign = unpack_bits(packed, DType::int4, 15);
    CHECK(with_sign.size() == 15);
    for (int i = 0; i < 15; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(std::to_integer<int>(plain[at]) == i);
      CHECK(static_cast<signed char>(with_sign[at]) == (i < 8 ? i : i - 16));
    }
    const auto quarters = unpack_bits({std::byte{0b11'10'01'00}}, DType::int2, 4);
    for (int i = 0; i < 4; ++i)
      CHECK(static_cast<signed char>(quarters[static_cast<std::size_t>(i)]) == (i < 2 ? i : i - 4));
  }
}
