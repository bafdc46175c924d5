// Conversions to quantized and scaled formats: saturation to the target's range and ONNX's rounding
// modes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace symprof::lowering {

/// The result for a value outside the target's range.
enum class Saturation : std::uint8_t {
  on,   ///< The nearest value of the range.
  off,  ///< FP8: infinity if the format has it, otherwise NaN.
};

/// True for an FP8 dtype with a mantissa.
bool is_float8(at::ScalarType type);

/// `x`, a floating-point tensor, as `type` (ONNX, Cast, table of the FP8 formats): FP8, FLOAT4E2M1
/// or an integer.
at::Tensor to_saturated(const at::Tensor& x, at::ScalarType type, Saturation saturation);

/// `x` as FLOAT8E8M0, a power of two; `round_mode` is up, down or nearest.
at::Tensor to_exponent(const at::Tensor& x, std::string_view round_mode, Saturation saturation);

}  // namespace symprof::lowering
