#include "trace/onnx/composites.h"

#include <array>
#include <string_view>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/onnx/exported_call.h"

namespace symprof::trace {
namespace {

/// torch/onnx/_internal/exporter/_torchlib/ops: aten_silu in nn.py, aten_rsqrt in core.py.
struct Composite {
  std::string_view target, first, second, op;
};

constexpr std::array composites = {
    Composite{"silu", "onnx::Sigmoid", "onnx::Mul", "aten::silu"},
    Composite{"rsqrt", "onnx::Sqrt", "onnx::Reciprocal", "aten::rsqrt"},
};

constexpr std::size_t most_nodes_apart = 8;

const Composite* find_composite(const Node& node, std::string_view call) {
  for (const Composite& composite : composites)
    if (node.op == composite.first && is_call_of(call, composite.target)) return &composite;
  return nullptr;
}

/// True if `node` reads only `made` and `input`.
bool combines(const Node& node, ValueId made, ValueId input) {
  int reads_made = 0;
  for (const Argument& argument : node.arguments) {
    const auto* ref = std::get_if<ValueRef>(&argument.value);
    if (ref == nullptr || (ref->id != made && ref->id != input)) return false;
    reads_made += ref->id == made ? 1 : 0;
  }
  return reads_made == 1;
}

}  // namespace

void join_composites(Graph& graph, const std::vector<std::string>& calls) {
  const Uses uses(graph);
  std::vector<bool> removed(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Composite* composite = find_composite(graph.nodes[i], calls[i]);
    if (composite == nullptr || graph.nodes[i].arguments.size() != 1 ||
        graph.nodes[i].outputs.empty())
      continue;
    const auto* input = std::get_if<ValueRef>(&graph.nodes[i].arguments.front().value);
    const ValueId made = graph.nodes[i].outputs.front();
    if (input == nullptr || uses.readers(made).size() != 1 || uses.is_output(made)) continue;
    // The second node follows directly, or after a few others in the file's order.
    const std::size_t reader = uses.readers(made).front();
    Node& second = graph.nodes[reader];
    if (reader >= i + most_nodes_apart || second.op != composite->second ||
        calls[reader] != calls[i] || !combines(second, made, input->id))
      continue;
    second.op = composite->op;
    second.overload = "default";
    second.arguments = graph.nodes[i].arguments;
    removed[i] = true;
  }
  erase_gone(graph.nodes, removed);
}

}  // namespace symprof::trace
