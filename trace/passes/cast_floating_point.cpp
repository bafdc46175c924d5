#include <memory>

#include "base/float_bytes.h"
#include "trace/graph/edit.h"
#include "trace/passes/training_mode.h"

namespace symprof::trace {
namespace {

/// PyTorch's module.to(dtype) changes every floating-point dtype. In ONNX those of a byte or less
/// are quantised numbers, which belong to a scale.
bool follows(DType own, bool is_onnx) {
  return is_floating_point(own) && (!is_onnx || element_bits(own) > 8);
}

std::shared_ptr<const ConstantTensor> cast(std::shared_ptr<const ConstantTensor> constant,
                                           DType dtype, bool is_onnx) {
  if (!constant || !follows(constant->spec.dtype, is_onnx)) return constant;
  auto result = std::make_shared<ConstantTensor>();
  result->spec = constant->spec;
  result->spec.dtype = dtype;
  result->data = convert_floats(constant->data, constant->spec.dtype, dtype);
  return result;
}

/// module.to(dtype) reaches what the module registers. ATen promotes the types of other constants
/// as it does in PyTorch; ONNX operators want operands of one type, so constants follow there.
bool is_cast(const Value& value, bool casts_constants) {
  return value.kind != ValueKind::result && (value.kind != ValueKind::constant || casts_constants);
}

// `x.to(device)` is exported as aten::to.dtype_layout with the dtype that x had: no wish of the
// model's.
void cast_move(Node& node, DType dtype) {
  if (node.op != "aten::to" || node.overload != "dtype_layout") return;
  for (Argument& argument : node.arguments) {
    auto* moved = std::get_if<DType>(&argument.value);
    if (moved != nullptr && is_floating_point(*moved)) *moved = dtype;
  }
}

}  // namespace

void cast_floating_point(Graph& graph, DType dtype) {
  const bool is_onnx = graph.format == "onnx";
  for (Value& value : graph.values) {
    if (value.kind == ValueKind::result) value.spec.reset();
    if (!is_cast(value, is_onnx)) continue;
    if (value.spec && follows(value.spec->dtype, is_onnx)) value.spec->dtype = dtype;
    value.constant = cast(value.constant, dtype, is_onnx);
  }
  for (Node& node : graph.nodes) {
    cast_move(node, dtype);
    for (Argument& argument : node.arguments) {
      change_nested(argument, [&](Graph& branch) {
        branch.format = graph.format;
        cast_floating_point(branch, dtype);
      });
      auto* constant = std::get_if<std::shared_ptr<const ConstantTensor>>(&argument.value);
      if (constant != nullptr && is_onnx) *constant = cast(*constant, dtype, is_onnx);
    }
  }
}

}  // namespace symprof::trace
