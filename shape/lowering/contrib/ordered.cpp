// com.microsoft: int8 operators with cublasLt's orders of elements. An order changes where numbers
// lie, not how many there are or what they cost: tensors stay row-major here. They run as float
// operators between a dequantization and a quantization, as in quantized.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/contrib/quantized.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace ordered {
namespace {

constexpr std::size_t no_zero_point = 99;

/// Inputs: X and its scale.
Tensors quantize_ordered(OnnxCall& call) {
  return {quantized(call, call.input(0).to(at::kFloat), 1, no_zero_point, at::kChar)};
}

/// `to` is FLOAT or FLOAT16.
Tensors dequantize_ordered(OnnxCall& call) {
  const at::Tensor y = dequantized(call, {0, 1, no_zero_point});
  return {y.to(dtype_of_attribute(call, call.integer("to", 1)))};
}

/// Inputs: X and its scale, then Y's scale.
Tensors gelu_ordered(OnnxCall& call) {
  return {quantized(call, at::gelu(dequantized(call, {0, 1, no_zero_point})), 2, no_zero_point,
                    at::kChar)};
}

/// Inputs: X and its scale, the weight, the bias, and Y's scale.
Tensors layer_norm_ordered(OnnxCall& call) {
  const at::Tensor x = dequantized(call, {0, 1, no_zero_point});
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), x.dim());
  const at::Tensor weight = to_device_of(call.input(2), x).to(at::kFloat);
  at::Tensor bias = call.optional_input(3);
  if (bias.defined()) bias = to_device_of(bias, x).to(at::kFloat);
  const at::Tensor y = at::layer_norm(x, x.sizes().slice(static_cast<std::size_t>(axis)), weight,
                                      bias, call.real("epsilon", 1e-5));
  return {quantized(call, y, 4, no_zero_point, at::kChar)};
}

/// Inputs: A, its scale, B, its scale, Y's scale, a bias, C and its scale.
Tensors matmul_ordered(OnnxCall& call) {
  const at::Tensor a = dequantized(call, {0, 1, no_zero_point});
  const at::Tensor b = to_device_of(dequantized(call, {2, 3, no_zero_point}), a);
  at::Tensor y = at::matmul(a, b);
  if (call.has(5)) y = at::add(y, to_device_of(call.input(5), a));
  if (call.has(6)) y = at::add(y, to_device_of(dequantized(call, {6, 7, no_zero_point}), a));
  return {quantized(call, y, 4, no_zero_point, at::kChar)};
}

constexpr Lowering ordered_rows[] = {
    {"com.microsoft::DequantizeWithOrder", dequantize_ordered},
    {"com.microsoft::QOrderedGelu", gelu_ordered},
    {"com.microsoft::QOrderedLayerNormalization", layer_norm_ordered},
    {"com.microsoft::QOrderedMatMul", matmul_ordered},
    {"com.microsoft::QuantizeWithOrder", quantize_ordered},
};

}  // namespace
}  // namespace ordered

Lowerings microsoft_ordered_lowerings() { return ordered::ordered_rows; }

}  // namespace symprof::lowering
