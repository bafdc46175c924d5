#include "base/packed_bits.h"

namespace symprof {

std::vector<std::byte> unpack_bits(const std::vector<std::byte>& packed, DType dtype,
                                   std::int64_t count) {
  const auto bits = static_cast<unsigned>(element_bits(dtype));
  const bool is_signed = dtype == DType::int4 || dtype == DType::int2;
  const unsigned mask = (1U << bits) - 1, sign = 1U << (bits - 1);
  std::vector<std::byte> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t at = i * bits;
    const unsigned code = std::to_integer<unsigned>(packed[at / 8]) >> (at % 8) & mask;
    const unsigned extension = is_signed && (code & sign) != 0 ? 0xFFU & ~mask : 0;
    numbers[i] = static_cast<std::byte>(code | extension);
  }
  return numbers;
}

}  // namespace symprof
