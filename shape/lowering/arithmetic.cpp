// Element-wise arithmetic. Dtype promotion follows PyTorch, which agrees with ONNX if both operands
// have one dtype; a host scalar stays a number, as in `x * 0.5`.
#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

template <at::Tensor (*function)(const at::Tensor&)>
Tensors unary(OnnxCall& call) {
  return {function(call.input(0))};
}

template <at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
Tensors binary(OnnxCall& call) {
  const Tensors operands = broadcast_operands(call);
  if (operands.size() != 2) call.fail("wanted two inputs");
  return {function(operands[0], operands[1])};
}

template <at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
Tensors fold(OnnxCall& call) {
  const Tensors operands = broadcast_operands(call);
  at::Tensor result = call.input(0);
  if (operands.size() > 1) result = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) result = function(result, operands[i]);
  return {result};
}

at::Tensor plus(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor minus(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }

/// Integers are divided towards zero (ONNX, Div).
at::Tensor divide(const at::Tensor& a, const at::Tensor& b) {
  return at::isIntegralType(a.scalar_type(), /*includeBool=*/true) ? at::div(a, b, "trunc")
                                                                   : at::div(a, b);
}

/// Before opset 7 an operand broadcasts only if `broadcast` is set, from dimension `axis` on.
template <at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
Tensors aligned(OnnxCall& call) {
  if (call.opset() < 7 && call.is_set("broadcast") && call.has(1)) {
    const at::Tensor& b = call.input(1);
    const std::int64_t rank = call.input(0).dim();
    const std::int64_t axis = call.integer("axis", rank - b.dim());
    Integers sizes(b.sizes().begin(), b.sizes().end());
    while (static_cast<std::int64_t>(sizes.size()) < rank - axis) sizes.push_back(1);
    call.inputs[1] = b.reshape(sizes);
  }
  return binary<function>(call);
}

Tensors mean(OnnxCall& call) {
  const at::Tensor sum = fold<plus>(call).front();
  return {at::div(sum, static_cast<double>(call.inputs.size()))};
}

/// A known exponent becomes a number, so that only the base is saved for backward.
Tensors power(OnnxCall& call) {
  const at::Tensor& base = call.input(0);
  if (const auto exponent = call.known_scalar(1); exponent && call.input(1).dim() <= base.dim())
    return {at::pow(base, *exponent).to(base.device(), base.scalar_type())};
  const Tensors operands = broadcast_operands(call);
  return {at::pow(operands[0], operands[1]).to(operands[0].device(), base.scalar_type())};
}

Tensors modulo(OnnxCall& call) {
  return call.is_set("fmod") ? binary<at::fmod>(call) : binary<at::remainder>(call);
}

Tensors bit_shift(OnnxCall& call) {
  return call.text("direction", "") == "LEFT" ? binary<at::bitwise_left_shift>(call)
                                              : binary<at::bitwise_right_shift>(call);
}

/// Known bounds become numbers; unknown bounds stay tensors.
Tensors clip(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (call.opset() < 11) {  // The bounds were attributes: PyTorch's clamp with the same defaults.
    constexpr double largest = std::numeric_limits<float>::max();
    return {at::clamp(x, call.real("min", -largest), call.real("max", largest))};
  }
  const auto low = call.known_scalar(1), high = call.known_scalar(2);
  const bool all_known = (!call.has(1) || low) && (!call.has(2) || high);
  if (!call.has(1) && !call.has(2)) return {x};
  if (all_known) return {at::clamp(x, low, high)};
  const auto bound = [&](std::size_t i) {
    return call.has(i) ? std::optional(to_device_of(call.input(i), x)) : std::nullopt;
  };
  return {at::clamp(x, bound(1), bound(2))};
}

Tensors cumulative_sum(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer_of(1), x.dim());
  const bool reverse = call.is_set("reverse");
  const at::Tensor ordered = reverse ? x.flip({axis}) : x;
  at::Tensor sums = ordered.cumsum(axis, x.scalar_type());
  if (call.is_set("exclusive")) sums = sums - ordered;
  return {reverse ? sums.flip({axis}) : sums};
}

/// An exclusive product is shifted: a 1 is inserted at the front.
Tensors cumulative_product(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer_of(1), x.dim());
  const bool reverse = call.is_set("reverse");
  at::Tensor ordered = reverse ? x.flip({axis}) : x;
  if (call.is_set("exclusive") && x.size(axis) > 0) {
    const at::Tensor first = at::ones_like(at::slice(ordered, axis, 0, 1));
    ordered = at::cat({first, at::slice(ordered, axis, 0, x.size(axis) - 1)}, axis);
  }
  const at::Tensor products = at::cumprod(ordered, axis, x.scalar_type());
  return {reverse ? products.flip({axis}) : products};
}

constexpr Lowering arithmetic_rows[] = {
    {"onnx::Abs", unary<at::abs>},
    {"onnx::Acos", unary<at::acos>},
    {"onnx::Acosh", unary<at::acosh>},
    {"onnx::Add", aligned<plus>},
    {"onnx::Asin", unary<at::asin>},
    {"onnx::Asinh", unary<at::asinh>},
    {"onnx::Atan", unary<at::atan>},
    {"onnx::Atanh", unary<at::atanh>},
    {"onnx::BitShift", bit_shift},
    {"onnx::BitwiseAnd", binary<at::bitwise_and>},
    {"onnx::BitwiseNot", unary<at::bitwise_not>},
    {"onnx::BitwiseOr", binary<at::bitwise_or>},
    {"onnx::BitwiseXor", binary<at::bitwise_xor>},
    {"onnx::Ceil", unary<at::ceil>},
    {"onnx::Clip", clip},
    {"onnx::Cos", unary<at::cos>},
    {"onnx::Cosh", unary<at::cosh>},
    {"onnx::CumProd", cumulative_product},
    {"onnx::CumSum", cumulative_sum},
    {"onnx::Det", unary<at::linalg_det>},
    {"onnx::Div", aligned<divide>},
    {"onnx::Erf", unary<at::erf>},
    {"onnx::Exp", unary<at::exp>},
    {"onnx::Floor", unary<at::floor>},
    {"onnx::Log", unary<at::log>},
    {"onnx::Max", fold<at::maximum>},
    {"onnx::Mean", mean},
    {"onnx::Min", fold<at::minimum>},
    {"onnx::Mod", modulo},
    {"onnx::Mul", aligned<at::mul>},
    {"onnx::Neg", unary<at::neg>},
    {"onnx::Pow", power},
    {"onnx::Reciprocal", unary<at::reciprocal>},
    {"onnx::Round", unary<at::round>},
    {"onnx::Sign", unary<at::sign>},
    {"onnx::Sin", unary<at::sin>},
    {"onnx::Sinh", unary<at::sinh>},
    {"onnx::Sqrt", unary<at::sqrt>},
    {"onnx::Sub", aligned<minus>},
    {"onnx::Sum", fold<plus>},
    {"onnx::Tan", unary<at::tan>},
};

}  // namespace

Lowerings arithmetic_lowerings() { return arithmetic_rows; }

}  // namespace symprof::lowering
