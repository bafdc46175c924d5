// Comparisons, logic, selection and dtype conversion.
#include "shape/lowering/families.h"
#include "shape/lowering/narrow.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/saturate.h"

namespace symprof::lowering {
namespace {

template <at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
Tensors comparison(OnnxCall& call) {
  const Tensors operands = broadcast_operands(call);
  if (operands.size() != 2) call.fail("wanted two inputs");
  return {function(operands[0], operands[1])};
}

Tensors logical_not(OnnxCall& call) { return {at::logical_not(call.input(0))}; }
Tensors is_nan(OnnxCall& call) { return {at::isnan(call.input(0))}; }

Tensors is_infinite(OnnxCall& call) {
  const bool negative = call.integer("detect_negative", 1) != 0;
  const bool positive = call.integer("detect_positive", 1) != 0;
  const at::Tensor& x = call.input(0);
  if (negative && positive) return {at::isinf(x)};
  if (positive) return {at::isposinf(x)};
  if (negative) return {at::isneginf(x)};
  return {at::zeros(x.sizes(), at::device(x.device()).dtype(at::kBool))};
}

Tensors where(OnnxCall& call) {
  const Tensors operands = broadcast_operands(call);
  if (operands.size() != 3) call.fail("wanted a condition and two inputs");
  return {at::where(operands[0], operands[1], operands[2])};
}

/// Converts to FP8 and powers of two by the node's attributes; to other dtypes as PyTorch does.
at::Tensor converted(const OnnxCall& call, at::ScalarType type) {
  const at::Tensor& x = call.input(0);
  const Saturation saturation = call.integer("saturate", 1) != 0 ? Saturation::on : Saturation::off;
  if (type == at::kFloat8_e8m0fnu && x.scalar_type() != type)
    return to_exponent(to_type(x, at::kFloat), call.text("round_mode", "up"), saturation);
  if (!is_float8(type) || !is_floating_point(static_cast<DType>(x.scalar_type())))
    return to_type(x, type);
  const bool is_wide = at::isFloatingType(x.scalar_type()) && x.element_size() > 1;
  return to_saturated(is_wide ? x : to_type(x, at::kFloat), type, saturation);
}

/// Before opset 6 the dtype is a string.
Tensors cast(OnnxCall& call) {
  if (call.opset() < 6) {
    const auto dtype = parse_dtype(call.text("to", ""));
    if (!dtype) call.fail("the element type '" + call.text("to", "") + "'");
    return {converted(call, scalar_type(*dtype))};
  }
  return {converted(call, dtype_of_attribute(call, call.integer("to", 0)))};
}

Tensors cast_like(OnnxCall& call) { return {converted(call, call.input(1).scalar_type())}; }

/// Reinterprets the bits as another dtype of the same size.
Tensors bit_cast(OnnxCall& call) {
  return {call.input(0).view(dtype_of_attribute(call, call.integer("to", 0)))};
}

constexpr Lowering comparison_rows[] = {
    {"onnx::And", comparison<at::logical_and>},
    {"onnx::BitCast", bit_cast},
    {"onnx::Cast", cast},
    {"onnx::CastLike", cast_like},
    {"onnx::Equal", comparison<at::eq>},
    {"onnx::Greater", comparison<at::gt>},
    {"onnx::GreaterOrEqual", comparison<at::ge>},
    {"onnx::IsInf", is_infinite},
    {"onnx::IsNaN", is_nan},
    {"onnx::Less", comparison<at::lt>},
    {"onnx::LessOrEqual", comparison<at::le>},
    {"onnx::Not", logical_not},
    {"onnx::Or", comparison<at::logical_or>},
    {"onnx::Where", where},
    {"onnx::Xor", comparison<at::logical_xor>},
};

}  // namespace

Lowerings comparison_lowerings() { return comparison_rows; }

}  // namespace symprof::lowering
