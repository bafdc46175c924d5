#include "shape/lowering/saturate.h"

#include <ATen/ATen.h>

#include <limits>

#include "shape/lowering/narrow.h"

namespace symprof::lowering {
namespace {

/// Largest finite numbers: c10/util/Float8_*.h.
double largest(at::ScalarType type) { return type == at::kFloat8_e4m3fnuz ? 240 : 57344; }

/// The range of integer `type` as bounds of a float32 clamp.
std::pair<double, double> bounds(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return {0, 255};
    case at::kChar:
      return {-128, 127};
    case at::kUInt4:
      return {0, 15};
    case at::kInt4:
      return {-8, 7};
    case at::kUInt2:
      return {0, 3};
    case at::kInt2:
      return {-2, 1};
    case at::kUInt16:
      return {0, 65535};
    case at::kShort:
      return {-32768, 32767};
    default:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  }
}

/// PyTorch's conversion to float8_e4m3fn saturates (c10/util/Float8_e4m3fn.h): without saturation,
/// values that would round to more than 448 are set to NaN first.
at::Tensor to_e4m3fn(const at::Tensor& x, Saturation saturation) {
  constexpr double rounds_to_largest = 464, nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor given = saturation == Saturation::on
                               ? x
                               : at::masked_fill(x, at::gt(at::abs(x), rounds_to_largest), nan);
  return given.to(x.device(), at::kFloat8_e4m3fn);
}

}  // namespace

bool is_float8(at::ScalarType type) {
  return type == at::kFloat8_e4m3fn || type == at::kFloat8_e4m3fnuz || type == at::kFloat8_e5m2 ||
         type == at::kFloat8_e5m2fnuz;
}

at::Tensor to_saturated(const at::Tensor& x, at::ScalarType type, Saturation saturation) {
  if (type == at::kFloat8_e4m3fn) return to_e4m3fn(x, saturation);
  // FLOAT4E2M1 has neither infinity nor NaN: its conversion saturates.
  if (type == at::kBits8) return to_type(x, type);
  if (!is_float8(type)) {
    const auto [low, high] = bounds(type);
    return to_type(at::clamp(x, low, high), type);
  }
  if (saturation == Saturation::on)
    return at::clamp(x, -largest(type), largest(type)).to(x.device(), type);
  // PyTorch's conversion overflows to infinity or NaN, depending on the format.
  return x.to(x.device(), type);
}

at::Tensor to_exponent(const at::Tensor& x, std::string_view round_mode, Saturation saturation) {
  constexpr at::ScalarType type = at::kFloat8_e8m0fnu;
  const bool as_pytorch = round_mode == "nearest";
  if (as_pytorch && saturation == Saturation::off) return x.to(x.device(), type);
  // The code is the exponent of the float32 (the OCP Microscaling specification, 5.4.1); all ones
  // is NaN, also for infinity.
  constexpr std::int64_t fraction_bits = 23, exponent_mask = 0xFF, largest_code = 0xFE;
  const at::Tensor real = x.to(x.device(), at::kFloat);
  const at::Tensor bits = real.view(at::kInt);
  at::Tensor code;
  if (as_pytorch) {
    code = real.to(x.device(), type).view(at::kByte).to(x.device(), at::kInt);
  } else {
    code = at::bitwise_and(at::bitwise_right_shift(bits, fraction_bits), exponent_mask);
    const at::Tensor fraction = at::bitwise_and(bits, (1 << fraction_bits) - 1);
    if (round_mode == "up") code = at::add(code, at::ne(fraction, 0));
  }
  code = at::clamp_max(code, saturation == Saturation::on ? largest_code : exponent_mask);
  code = at::where(at::isfinite(real), code, at::full({}, exponent_mask, code.options()));
  return code.to(x.device(), at::kByte).view(type);
}

}  // namespace symprof::lowering
