// com.microsoft: matrix products with transposition, activation or quantized operands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/contrib/activation.h"
#include "shape/lowering/contrib/quantized.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// Transposes `x`. `batch` (transBatch): dimensions 0 … rank - 2 rotate left by one, so that the
/// first becomes the last of them (onnxruntime, providers/cpu/math/matmul_helper.h). `matrix`: the
/// last two are swapped.
at::Tensor turned(const OnnxCall& call, at::Tensor x, bool batch, bool matrix) {
  if (x.dim() < 2) return x;
  if (batch) {
    if (x.dim() < 3)
      call.fail(fmt::format("a batch to transpose in [{}]", fmt::join(x.sizes(), ", ")));
    x = x.movedim(0, -2);
  }
  return matrix ? x.transpose(-2, -1) : x;
}

at::Tensor fused_product(const OnnxCall& call) {
  at::Tensor a = call.input(0), b = call.input(1);
  if (is_real(a)) a = to_device_of(a, b);
  if (is_real(b)) b = to_device_of(b, a);
  a = turned(call, a, call.is_set("transBatchA"), call.is_set("transA"));
  b = turned(call, b, call.is_set("transBatchB"), call.is_set("transB"));
  const double alpha = call.real("alpha", 1.0);
  const at::Tensor product = at::matmul(a, b);
  return alpha == 1.0 ? product : at::mul(product, alpha);
}

Tensors matmul(OnnxCall& call) { return {fused_product(call)}; }

Tensors activated_matmul(OnnxCall& call) { return {activated(call, fused_product(call))}; }

Tensors activated_gemm(OnnxCall& call) {
  return {activated(call, find_lowering("onnx::Gemm")->run(call).at(0))};
}

/// GELU with tanh of x · W + bias.
Tensors gelu_matmul(OnnxCall& call) {
  at::Tensor y = at::matmul(call.input(0), call.input(1));
  if (call.has(2)) y = at::add(y, call.input(2));
  return {at::gelu(y, "tanh")};
}

/// A vector of A's scales or zero points has one element per row.
at::Tensor of_rows(const at::Tensor& parameter) {
  return parameter.dim() == 1 && parameter.numel() > 1 ? parameter.unsqueeze(-1)
                                                       : broadcastable(parameter);
}

at::Tensor plus_bias(const OnnxCall& call, const at::Tensor& y, std::size_t bias) {
  return call.has(bias) ? at::add(y, to_device_of(call.input(bias), y)) : y;
}

/// float(A · B) x (scale of A x scale of B) + bias.
Tensors integer_matmul(OnnxCall& call) {
  at::Tensor a = call.input(0).to(at::kFloat);
  if (call.has(4)) a = at::sub(a, to_device_of(of_rows(call.input(4)), a).to(at::kFloat));
  const at::Tensor scale = to_device_of(of_rows(call.input(2)), a);
  a = at::mul(a, scale.to(at::kFloat)).to(scale.scalar_type());
  const at::Tensor b = to_device_of(dequantized(call, {1, 3, 5}), a);
  return {plus_bias(call, at::matmul(a, b), 6)};
}

/// `x` quantized to uint8 with the scale and zero point of its own range, and dequantized.
at::Tensor rounded_to_bytes(const at::Tensor& x) {
  const at::Tensor high = at::clamp_min(at::amax(x), 0), low = at::clamp_max(at::amin(x), 0);
  const at::Tensor scale = at::div(at::sub(high, low), 255);
  const at::Tensor zero = at::round(at::clamp(at::div(at::neg(low), scale), 0, 255));
  const at::Tensor bytes = at::clamp(at::add(at::round(at::div(x, scale)), zero), 0, 255);
  return at::mul(at::sub(bytes, zero), scale);
}

Tensors dynamic_matmul(OnnxCall& call) {
  const at::Tensor a = rounded_to_bytes(call.input(0));
  const at::Tensor b = to_device_of(dequantized(call, {1, 2, 3}), a);
  return {plus_bias(call, at::matmul(a, b), 4)};
}

/// Y is float32 if the node has no scale for it. C is int32 with the scale alpha x a_scale x
/// b_scale.
Tensors quantized_gemm(OnnxCall& call) {
  const auto operand = [&](const QuantizedPlaces& places, std::string_view transposed) {
    const at::Tensor x = dequantized(call, places);
    return call.is_set(transposed) ? x.t() : x;
  };
  // B's scales apply to its columns, after transposition.
  const at::Tensor a = operand({0, 1, 2}, "transA");
  at::Tensor b = to_device_of(call.input(3), a).to(at::kFloat);
  if (call.is_set("transB")) b = b.t();
  const at::Tensor scale = to_device_of(broadcastable(call.input(4)), a);
  b = at::mul(at::sub(b, to_device_of(broadcastable(call.input(5)), a).to(at::kFloat)), scale);
  const double alpha = call.real("alpha", 1.0);
  at::Tensor y = at::mm(a, b);
  if (alpha != 1.0) y = at::mul(y, alpha);
  if (call.has(6)) {
    const at::Tensor factor =
        at::mul(at::mul(scale, to_device_of(broadcastable(call.input(1)), a)), alpha);
    y = at::add(y, at::mul(to_device_of(call.input(6), a).to(at::kFloat), factor));
  }
  if (!call.has(7)) return {y};
  return {quantized(call, y, 7, 8, call.input(8).scalar_type())};
}

/// int16 operands, int32 results; float64 holds these products exactly.
Tensors wide_integer_matmul(OnnxCall& call) {
  const at::Tensor a = call.input(0).to(at::kDouble);
  return {at::matmul(a, to_device_of(call.input(1), a).to(at::kDouble)).to(at::kInt)};
}

constexpr Lowering product_rows[] = {
    {"com.microsoft::DynamicQuantizeMatMul", dynamic_matmul},
    {"com.microsoft::FusedGemm", activated_gemm},
    {"com.microsoft::FusedMatMul", matmul},
    {"com.microsoft::FusedMatMulActivation", activated_matmul},
    {"com.microsoft::GemmFastGelu", gelu_matmul},
    {"com.microsoft::MatMulInteger16", wide_integer_matmul},
    {"com.microsoft::MatMulIntegerToFloat", integer_matmul},
    {"com.microsoft::QGemm", quantized_gemm},
    {"com.microsoft::TransposeMatMul", matmul},
};

}  // namespace

Lowerings microsoft_product_lowerings() { return product_rows; }

}  // namespace symprof::lowering
