#include "shape/lowering/narrow.h"

#include <ATen/ATen.h>

#include <array>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

constexpr at::ScalarType float4 = at::kBits8;

bool is_signed(at::ScalarType type) { return type == at::kInt4 || type == at::kInt2; }

/// The values of the FLOAT4E2M1 codes, without the sign bit (the OCP Microscaling specification,
/// table 5).
constexpr std::array<double, 8> float4_numbers = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
constexpr std::int64_t float4_sign = 8;

at::Tensor widened(const at::Tensor& x) {
  const at::ScalarType type = x.scalar_type();
  if (type != float4) return x.view(is_signed(type) ? at::kChar : at::kByte);
  std::vector<double> numbers(float4_numbers.begin(), float4_numbers.end());
  for (const double number : float4_numbers) numbers.push_back(-number);
  const at::Tensor codes = x.view(at::kByte).to(at::kLong);
  return at::take(at::tensor(numbers, host_options(at::kFloat)), codes);
}

at::Tensor float4_codes(const at::Tensor& x) {
  const at::Tensor magnitude = at::abs(x.to(at::kFloat));
  at::Tensor codes = at::zeros(x.sizes(), host_options(at::kLong));
  for (std::size_t i = 0; i + 1 < float4_numbers.size(); ++i) {
    const double middle = (float4_numbers[i] + float4_numbers[i + 1]) / 2;
    // Ties round to the even code: to the next one if this one is odd.
    codes += i % 2 == 0 ? at::gt(magnitude, middle) : at::ge(magnitude, middle);
  }
  return codes + at::signbit(x.to(at::kFloat)).to(at::kLong) * float4_sign;
}

at::Tensor narrowed(const at::Tensor& x, at::ScalarType type) {
  if (type == float4) return float4_codes(x).to(at::kByte).view(type);
  const std::int64_t bits = type == at::kInt4 || type == at::kUInt4 ? 4 : 2;
  at::Tensor codes = at::bitwise_and(x.to(at::kLong), (1 << bits) - 1);
  if (!is_signed(type)) return codes.to(at::kByte).view(type);
  const std::int64_t sign = 1 << (bits - 1);
  codes = at::bitwise_xor(codes, sign) - sign;
  return codes.to(at::kChar).view(type);
}

}  // namespace

bool is_narrow(at::ScalarType type) {
  return type == float4 || type == at::kInt4 || type == at::kUInt4 || type == at::kInt2 ||
         type == at::kUInt2;
}

at::Tensor to_type(const at::Tensor& x, at::ScalarType type) {
  const at::ScalarType own = x.scalar_type();
  if (own == type || !is_real(x) || (!is_narrow(own) && !is_narrow(type)))
    return x.to(x.device(), type);
  const at::Tensor wide = is_narrow(own) ? widened(x) : x;
  return is_narrow(type) ? narrowed(wide, type) : wide.to(type);
}

}  // namespace symprof::lowering
