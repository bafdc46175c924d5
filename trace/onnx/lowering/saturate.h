// Conversions that stay within the range of the target: FP8 and quantised integers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace symprof::trace::onnx {

/// What becomes of a value outside the range of the target.
enum class Saturation : std::uint8_t {
  on,   ///< The nearest value of the range.
  off,  ///< FP8: infinity where the format has one, otherwise not a number.
};

/// True for an FP8 dtype.
bool is_float8(at::ScalarType type);

/// `x`, a floating-point tensor, as `type` (ONNX, Cast, table of the FP8 formats).
at::Tensor to_saturated(const at::Tensor& x, at::ScalarType type, Saturation saturation);

}  // namespace symprof::trace::onnx
