#include <set>

#include "trace/graph/edit.h"
#include "trace/passes/function_calls.h"
#include "trace/passes/onnx_dtype.h"
#include "trace/passes/training_mode.h"
#include "trace/python/dtypes/recorded_dtypes.h"

namespace symprof::trace {
namespace {

/// module.to(dtype) casts registered parameters and buffers. ATen promotes the types of other
/// constants as it does in PyTorch.
bool is_registered(const Value& value) {
  return value.kind != ValueKind::result && value.kind != ValueKind::constant;
}

void cast_graph(Graph& graph, const std::set<DType>& own, DType dtype, const FunctionCalls& calls) {
  graph.cast_to = dtype;
  follow_dtype(graph, own, dtype, calls);
  for (Value& value : graph.values) {
    if (value.kind == ValueKind::result) value.spec.reset();
    if (!is_registered(value) || !value.spec || !is_floating_point(value.spec->dtype)) continue;
    value.spec->dtype = dtype;
    if (value.constant) value.constant = with_dtype(*value.constant, dtype);
  }
  for (Node& node : graph.nodes)
    for (Argument& argument : node.arguments)
      change_nested(argument, [&](Graph& branch) {
        cast_graph(branch, own, dtype, calls);
        graph.guessed_dtypes.insert(graph.guessed_dtypes.end(), branch.guessed_dtypes.begin(),
                                    branch.guessed_dtypes.end());
      });
}

}  // namespace

void cast_floating_point(Graph& graph, DType dtype) { cast_floating_point(graph, dtype, {}); }

void cast_floating_point(Graph& graph, DType dtype, const FunctionCalls& calls) {
  graph.cast_to = dtype;
  if (!graph.traits.operators_are_aten) {
    if (const auto own = onnx_model_dtype(graph)) replace_onnx_dtype(graph, *own, dtype);
    return;
  }
  const std::set<DType> own = model_dtypes(graph);
  if (own != std::set{dtype}) cast_graph(graph, own, dtype, calls);
}

}  // namespace symprof::trace
