// Quantization to integers and FP8, and products of quantized tensors.
//
// PyTorch has no GPU kernel for most of these: they run as the float operators of its reference
// modules (torch.ao.nn.quantized.reference): dequantize, product, round, clamp, convert. float32
// holds sums of 8-bit products exactly up to 2^24.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/families.h"
#include "shape/lowering/narrow.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/saturate.h"
#include "shape/lowering/windows.h"

namespace symprof::lowering {
namespace {

/// A scale or zero point, ready to broadcast with `x`: one for all, one per index of `axis`, or one
/// per block of `block` indices.
at::Tensor spread(const OnnxCall& call, const at::Tensor& parameter, const at::Tensor& x,
                  std::int64_t axis, std::int64_t block) {
  at::Tensor here = to_device_of(parameter, x);
  // LibTorch's CPU kernels cannot copy sub-byte dtypes.
  if (is_real(here) && is_narrow(here.scalar_type())) here = to_type(here, at::kFloat);
  if (here.numel() == 1 && here.dim() <= 1) return here.reshape({});
  axis = checked_axis(call, axis, x.dim());
  if (block > 0 && here.dim() == x.dim()) {
    Integers sizes(here.sizes().begin(), here.sizes().end());
    sizes.insert(sizes.begin() + axis + 1, block);
    return at::slice(here.unsqueeze(axis + 1).expand(sizes).flatten(axis, axis + 1), axis, 0,
                     x.size(axis));
  }
  if (here.dim() != 1 || here.size(0) != x.size(axis))
    call.fail(fmt::format("a scale or zero point [{}] for [{}] and axis {}",
                          fmt::join(here.sizes(), ", "), fmt::join(x.sizes(), ", "), axis),
              "Wanted: one element, one for each index of the axis, or one for each block.");
  Integers sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[static_cast<std::size_t>(axis)] = here.size(0);
  return here.reshape(sizes);
}

at::Tensor as(const at::Tensor& x, at::ScalarType type) { return to_type(x, type); }

/// The dtype of a quantized result: the zero point's, the attribute's, or uint8.
at::ScalarType quantized_type(const OnnxCall& call, std::size_t zero_point) {
  if (call.has(zero_point)) return call.input(zero_point).scalar_type();
  const std::int64_t type = call.integer("output_dtype", 0);
  return type == 0 ? at::kByte : dtype_of_attribute(call, type);
}

/// round(x / scale) + zero point, half to even, within the range of `type`.
at::Tensor quantize(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& zero,
                    at::ScalarType type, Saturation saturation) {
  at::Tensor y = at::div(x, scale);
  if (!is_floating_point(static_cast<DType>(type))) y = as(at::round(y), at::kFloat);
  if (zero.defined()) y = at::add(y, as(zero, y.scalar_type()));
  return to_saturated(y, type, saturation);
}

at::Tensor dequantize(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& zero) {
  at::Tensor y = as(x, at::kFloat);
  if (zero.defined()) y = at::sub(y, as(zero, at::kFloat));
  return at::mul(y, as(scale, at::kFloat));
}

Tensors quantize_linear(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  const at::Tensor scale = spread(call, call.input(1), x, axis, block);
  at::Tensor zero;
  if (call.has(2)) zero = spread(call, call.input(2), x, axis, block);
  const auto saturation = call.integer("saturate", 1) != 0 ? Saturation::on : Saturation::off;
  // Integer inputs are divided in the scale's dtype: they may be quantized again.
  const at::ScalarType divided =
      at::isFloatingType(x.scalar_type()) ? x.scalar_type() : scale.scalar_type();
  return {quantize(as(x, divided), as(scale, divided), zero, quantized_type(call, 2), saturation)};
}

Tensors dequantize_linear(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  const at::Tensor scale = spread(call, call.input(1), x, axis, block);
  at::Tensor zero;
  if (call.has(2)) zero = spread(call, call.input(2), x, axis, block);
  const std::int64_t type = call.integer("output_dtype", 0);
  return {as(dequantize(x, scale, zero),
             type == 0 ? call.input(1).scalar_type() : dtype_of_attribute(call, type))};
}

/// Quantizes to uint8 with the scale and zero point of the data's range, extended to include 0.
Tensors dynamic_quantize_linear(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor high = at::clamp_min(at::amax(x), 0), low = at::clamp_max(at::amin(x), 0);
  const at::Tensor scale = at::div(at::sub(high, low), 255);
  const at::Tensor zero = at::round(at::clamp(at::div(at::neg(low), scale), 0, 255));
  const at::Tensor y = quantize(x, scale, zero, at::kByte, Saturation::on);
  return {y, scale, as(zero, at::kByte)};
}

/// Scales and zero points of a matrix product apply to the rows of A and the columns of B.
at::Tensor of_rows(const at::Tensor& parameter, const at::Tensor& like) {
  const at::Tensor here = to_device_of(parameter, like);
  return here.dim() == 1 && here.numel() > 1 ? here.unsqueeze(-1) : here;
}

Tensors quantized_matmul(OnnxCall& call) {
  const at::Tensor& a = call.input(0);
  const at::Tensor b = to_device_of(call.input(3), a);
  const at::Tensor first = dequantize(a, of_rows(call.input(1), a), of_rows(call.input(2), a));
  const at::Tensor second =
      dequantize(b, to_device_of(call.input(4), a), to_device_of(call.input(5), a));
  const at::Tensor y = at::matmul(first, second);
  return {quantize(y, as(to_device_of(call.input(6), a), at::kFloat),
                   to_device_of(call.input(7), a), call.input(7).scalar_type(), Saturation::on)};
}

Tensors integer_matmul(OnnxCall& call) {
  const at::Tensor& a = call.input(0);
  at::Tensor first = as(a, at::kFloat), second = as(to_device_of(call.input(1), a), at::kFloat);
  if (call.has(2)) first = at::sub(first, as(of_rows(call.input(2), a), at::kFloat));
  if (call.has(3)) second = at::sub(second, as(to_device_of(call.input(3), a), at::kFloat));
  return {as(at::matmul(first, second), at::kInt)};
}

/// A convolution of float operands with the node's attributes.
at::Tensor convolve(const OnnxCall& call, at::Tensor x, const at::Tensor& weight,
                    const at::Tensor& bias) {
  if (weight.dim() < 3) call.fail(fmt::format("a weight of rank {}; wanted 3 to 5", weight.dim()));
  const Integers kernel(weight.sizes().begin() + 2, weight.sizes().end());
  Window window = read_window(call, kernel, x.sizes());
  if (!window.is_symmetric()) x = pad_explicitly(x, window, 0);
  return at::convolution(x, weight, bias, window.strides, window.begins, window.dilations,
                         /*transposed=*/false, Integers(kernel.size(), 0),
                         call.integer("group", 1));
}

Tensors integer_convolution(OnnxCall& call) {
  at::Tensor x = as(call.input(0), at::kFloat);
  at::Tensor weight = as(to_device_of(call.input(1), x), at::kFloat);
  if (call.has(2)) x = at::sub(x, as(to_device_of(call.input(2), x), at::kFloat));
  if (call.has(3))
    weight = at::sub(weight, as(spread(call, call.input(3), weight, 0, 0), at::kFloat));
  return {as(convolve(call, x, weight, {}), at::kInt)};
}

/// The bias is int32, of the scale x_scale · w_scale.
Tensors quantized_convolution(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor weight = to_device_of(call.input(3), x);
  const at::Tensor x_scale = to_device_of(call.input(1), x);
  const at::Tensor real_weight = dequantize(weight, spread(call, call.input(4), weight, 0, 0),
                                            spread(call, call.input(5), weight, 0, 0));
  at::Tensor bias;
  if (call.has(8))
    bias = at::mul(as(to_device_of(call.input(8), x), at::kFloat),
                   at::mul(x_scale, to_device_of(call.input(4), x)));
  const at::Tensor y =
      convolve(call, dequantize(x, x_scale, to_device_of(call.input(2), x)), real_weight, bias);
  return {quantize(y, to_device_of(call.input(6), x), to_device_of(call.input(7), x),
                   call.input(7).scalar_type(), Saturation::on)};
}

constexpr Lowering quantization_rows[] = {
    {"onnx::ConvInteger", integer_convolution},
    {"onnx::DequantizeLinear", dequantize_linear},
    {"onnx::DynamicQuantizeLinear", dynamic_quantize_linear},
    {"onnx::MatMulInteger", integer_matmul},
    {"onnx::QLinearConv", quantized_convolution},
    {"onnx::QLinearMatMul", quantized_matmul},
    {"onnx::QuantizeLinear", quantize_linear},
};

}  // namespace

Lowerings quantization_lowerings() { return quantization_rows; }

}  // namespace symprof::lowering
