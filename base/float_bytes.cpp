#include "base/float_bytes.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace symprof {
namespace {

template <class Element>
Element load(const std::byte* bytes) {
  Element element;
  std::memcpy(&element, bytes, sizeof element);
  return element;
}

template <class Element>
void store(Element element, std::byte* bytes) {
  std::memcpy(bytes, &element, sizeof element);
}

/// IEEE binary16: 1 sign, 5 exponent, 10 fraction bits.
float from_half(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  }
  return half & 0x8000 ? -magnitude : magnitude;
}

std::uint16_t to_half(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0F) return sign | 0x7c00;  // Half-way between 65504 and 2^16.
  if (magnitude < 0x1p-14F)
    return sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  const int exponent = std::ilogb(magnitude);
  const auto steps =
      static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A fraction that rounds up to 2048 carries into the exponent by the addition.
  return static_cast<std::uint16_t>(sign + ((exponent + 15) << 10) + (steps - 0x400));
}

std::uint16_t to_bfloat16(float value) {
  if (std::isnan(value)) return 0x7fc0;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double read(const std::byte* bytes, DType dtype) {
  switch (dtype) {
    case DType::float64:
      return load<double>(bytes);
    case DType::float16:
      return from_half(load<std::uint16_t>(bytes));
    case DType::bfloat16:
      return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(bytes)} << 16);
    default:
      return load<float>(bytes);
  }
}

void write(double value, DType dtype, std::byte* bytes) {
  switch (dtype) {
    case DType::float64:
      return store(value, bytes);
    case DType::float16:
      return store(to_half(static_cast<float>(value)), bytes);
    case DType::bfloat16:
      return store(to_bfloat16(static_cast<float>(value)), bytes);
    default:
      return store(static_cast<float>(value), bytes);
  }
}

bool is_known(DType dtype) { return is_floating_point(dtype) && element_bytes(dtype) > 1; }

}  // namespace

std::vector<std::byte> convert_floats(const std::vector<std::byte>& bytes, DType from, DType to) {
  if (from == to) return bytes;
  if (!is_known(from) || !is_known(to)) return {};
  const auto read_width = static_cast<std::size_t>(element_bytes(from));
  const auto write_width = static_cast<std::size_t>(element_bytes(to));
  std::vector<std::byte> result(bytes.size() / read_width * write_width);
  for (std::size_t i = 0; i < bytes.size() / read_width; ++i)
    write(read(bytes.data() + i * read_width, from), to, result.data() + i * write_width);
  return result;
}

}  // namespace symprof
