#include "base/float8.h"

#include <cmath>
#include <limits>

namespace symprof {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Form {
  int mantissa_bits = 0, bias = 0;
  bool has_infinity =
      false;  ///< The largest exponent is for infinities and NaN, as IEEE 754 has it.
  bool has_negative_zero = true;  ///< Else its byte is the only NaN.
};

Form form_of(DType dtype) {
  switch (dtype) {
    case DType::float8_e4m3fn:
      return {.mantissa_bits = 3, .bias = 7};
    case DType::float8_e4m3fnuz:
      return {.mantissa_bits = 3, .bias = 8, .has_negative_zero = false};
    case DType::float8_e5m2:
      return {.mantissa_bits = 2, .bias = 15, .has_infinity = true};
    default:
      return {.mantissa_bits = 2, .bias = 16, .has_negative_zero = false};
  }
}

constexpr unsigned sign_bit = 0x80, magnitude_bits = 0x7F, all_bits = 0xFF;

double magnitude(const Form& form, unsigned bits) {
  const unsigned mantissas = 1u << form.mantissa_bits;
  const unsigned exponent = bits >> form.mantissa_bits, mantissa = bits % mantissas;
  if (form.has_infinity && bits >= (magnitude_bits & ~(mantissas - 1)))
    return mantissa == 0 ? std::numeric_limits<double>::infinity() : not_a_number;
  if (!form.has_infinity && form.has_negative_zero && bits == magnitude_bits) return not_a_number;
  const bool is_subnormal = exponent == 0;
  const double fraction = static_cast<double>(mantissa) / mantissas + (is_subnormal ? 0 : 1);
  return std::ldexp(fraction, static_cast<int>(is_subnormal ? 1 : exponent) - form.bias);
}

}  // namespace

bool is_float8(DType dtype) {
  return dtype == DType::float8_e4m3fn || dtype == DType::float8_e4m3fnuz ||
         dtype == DType::float8_e5m2 || dtype == DType::float8_e5m2fnuz ||
         dtype == DType::float8_e8m0fnu;
}

double float8_value(DType dtype, std::uint8_t bits) {
  constexpr int scale_bias = 127;
  if (dtype == DType::float8_e8m0fnu)  // A power of two: exponent bits only.
    return bits == all_bits ? not_a_number : std::ldexp(1.0, int{bits} - scale_bias);
  const Form form = form_of(dtype);
  if (!form.has_negative_zero && bits == sign_bit) return not_a_number;
  const double size = magnitude(form, bits & magnitude_bits);
  return (bits & sign_bit) != 0 ? -size : size;
}

std::uint8_t nearest_float8(DType dtype, double value) {
  const auto nan = static_cast<std::uint8_t>(
      dtype == DType::float8_e8m0fnu || form_of(dtype).has_negative_zero ? all_bits : sign_bit);
  if (std::isnan(value)) return nan;
  std::uint8_t best = 0;
  double off = std::numeric_limits<double>::infinity();
  for (unsigned bits = 0; bits <= all_bits; ++bits) {
    const auto candidate = static_cast<std::uint8_t>(bits);
    const double number = float8_value(dtype, candidate);
    if (!std::isfinite(number) || std::signbit(number) != std::signbit(value)) continue;
    const double distance = std::fabs(number - value);
    if (distance < off || (distance == off && bits % 2 == 0)) {
      best = candidate;
      off = distance;
    }
  }
  return best;
}

}  // namespace symprof
