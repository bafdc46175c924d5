// Conversions to the formats of quantised and scaled numbers: within the range of the target, and
// with ONNX's ways to round.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace symprof::lowering {

/// What becomes of a value outside the range of the target.
enum class Saturation : std::uint8_t {
  on,   ///< The nearest value of the range.
  off,  ///< FP8: infinity where the format has one, otherwise not a number.
};

/// True for an FP8 dtype with a fraction.
bool is_float8(at::ScalarType type);

/// `x`, a floating-point tensor, as `type` (ONNX, Cast, table of the FP8 formats): FP8, FLOAT4E2M1
/// or an integer.
at::Tensor to_saturated(const at::Tensor& x, at::ScalarType type, Saturation saturation);

/// `x` as FLOAT8E8M0, a power of two; `round_mode` is up, down or nearest.
at::Tensor to_exponent(const at::Tensor& x, std::string_view round_mode, Saturation saturation);

}  // namespace symprof::lowering
