// Quantized operands of com.microsoft. PyTorch has no GPU kernel for most of these operators: they
// run as float operators between a dequantization and a quantization, as in quantization.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// The input positions of a quantized operand. The zero point is optional.
struct QuantizedPlaces {
  std::size_t value, scale, zero_point;
};

/// (value - zero point) x scale, of the scale's dtype. A scale or zero point of several elements
/// belongs to the last dimension.
at::Tensor dequantized(const OnnxCall& call, const QuantizedPlaces& places);

/// value - zero point as float32: `dequantized` without the scale.
at::Tensor centered(const OnnxCall& call, std::size_t value, std::size_t zero_point);

/// round(x / scale) + zero point, half to even, within the range of `type`.
at::Tensor quantized(const OnnxCall& call, const at::Tensor& x, std::size_t scale,
                     std::size_t zero_point, at::ScalarType type);

/// The tensor ready for broadcasting: a vector of one element becomes a scalar.
at::Tensor broadcastable(const at::Tensor& parameter);

}  // namespace symprof::lowering
