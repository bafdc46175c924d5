#include <memory>

#include "meta/float_bytes.h"
#include "trace/passes/training_mode.h"

namespace symprof::trace {
namespace {

void cast(TensorSpec& spec, DType dtype) {
  if (is_floating_point(spec.dtype)) spec.dtype = dtype;
}

std::shared_ptr<const ConstantTensor> cast(std::shared_ptr<const ConstantTensor> constant,
                                           DType dtype) {
  if (!constant || !is_floating_point(constant->spec.dtype)) return constant;
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
  const bool casts_constants = graph.format == "onnx";
  for (Value& value : graph.values) {
    if (value.kind == ValueKind::result) value.spec.reset();
    if (!is_cast(value, casts_constants)) continue;
    if (value.spec) cast(*value.spec, dtype);
    value.constant = cast(value.constant, dtype);
  }
  for (Node& node : graph.nodes) {
    cast_move(node, dtype);
    for (Argument& argument : node.arguments) {
      if (const auto* branch = std::get_if<std::shared_ptr<const Graph>>(&argument.value)) {
        if (!*branch) continue;
        auto copy = std::make_shared<Graph>(**branch);
        copy->format = graph.format;
        cast_floating_point(*copy, dtype);
        argument.value = std::shared_ptr<const Graph>(std::move(copy));
      } else if (const auto* constant =
                     std::get_if<std::shared_ptr<const ConstantTensor>>(&argument.value)) {
        if (casts_constants) argument.value = cast(*constant, dtype);
      }
    }
  }
}

}  // namespace symprof::trace
