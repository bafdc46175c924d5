// Matrix products.
#include <fmt/format.h>

#include <algorithm>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// Both operands on one device: a real (host) operand moves to the other's device.
std::pair<at::Tensor, at::Tensor> on_one_device(const at::Tensor& a, const at::Tensor& b) {
  return {is_real(a) ? to_device_of(a, b) : a, is_real(b) ? to_device_of(b, a) : b};
}

Tensors matmul(OnnxCall& call) {
  const auto [a, b] = on_one_device(call.input(0), call.input(1));
  return {at::matmul(a, b)};
}

/// Y = alpha · A' · B' + beta · C. The form that nn.Linear exports (B transposed, C a vector)
/// becomes at::linear.
Tensors gemm(OnnxCall& call) {
  const double alpha = call.real("alpha", 1.0), beta = call.real("beta", 1.0);
  const bool transpose_a = call.is_set("transA"), transpose_b = call.is_set("transB");
  const auto [first, second] = on_one_device(call.input(0), call.input(1));
  const at::Tensor c = call.optional_input(2);
  if (first.dim() != 2 || second.dim() != 2)
    call.fail(fmt::format("operands of rank {} and {}", first.dim(), second.dim()),
              "Wanted: two matrices.");
  if (!transpose_a && transpose_b && alpha == 1.0 && beta == 1.0 && (!c.defined() || c.dim() == 1))
    return {at::linear(first, second, c)};
  const at::Tensor a = transpose_a ? first.t() : first, b = transpose_b ? second.t() : second;
  if (c.defined() && beta != 0.0) return {at::addmm(to_device_of(c, a), a, b, beta, alpha)};
  const at::Tensor product = at::mm(a, b);
  return {alpha == 1.0 ? product : at::mul(product, alpha)};
}

/// Tables computed by the exporter are host tensors, which autocast does not cast.
Tensors einsum(OnnxCall& call) {
  Tensors operands = call.inputs;
  const auto placed = std::ranges::find_if_not(operands, is_real);
  if (placed != operands.end()) {
    const at::Tensor like = *placed;
    for (at::Tensor& operand : operands)
      if (is_real(operand)) operand = to_device_of(operand, like);
  }
  return {at::einsum(call.text("equation", ""), operands)};
}

constexpr Lowering matmul_rows[] = {
    {"onnx::Einsum", einsum},
    {"onnx::Gemm", gemm},
    {"onnx::MatMul", matmul},
};

}  // namespace

Lowerings matmul_lowerings() { return matmul_rows; }

}  // namespace symprof::lowering
