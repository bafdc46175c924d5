#include "tests/support/torch/onnx_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>

#include "base/error.h"
#include "shape/lowering/real_tensor.h"
#include "trace/onnx/reader.h"

namespace symprof::testing {
namespace {

using lowering::OnnxCall;
using lowering::Tensors;

void run_node(const Graph& graph, const Node& node, Tensors& values) {
  const auto* lowering = lowering::find_lowering(node.op);
  REQUIRE_MESSAGE(lowering != nullptr, node.op);
  OnnxCall call{node, graph, {}};
  for (const Argument& argument : node.arguments) {
    if (!argument.name.empty()) continue;
    const auto* ref = std::get_if<ValueRef>(&argument.value);
    call.inputs.push_back(ref == nullptr ? at::Tensor()
                                         : values[static_cast<std::size_t>(ref->id)]);
  }
  const Tensors results = lowering->run(call);
  REQUIRE(results.size() >= node.outputs.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) values[static_cast<std::size_t>(node.outputs[i])] = results[i];
}

}  // namespace

Tensors run_onnx(const std::string& graph_text, const Tensors& inputs, std::int64_t opset) {
  const Graph graph = trace::parse_onnx_text(
      fmt::format(R"(<ir_version: 10, opset_import: ["" : {}]> {})", opset, graph_text), "test");
  Tensors values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (graph.values[i].constant) values[i] = lowering::real_tensor(*graph.values[i].constant);
  REQUIRE(graph.inputs.size() == inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
  for (const Node& node : graph.nodes) run_node(graph, node, values);
  Tensors outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(values[static_cast<std::size_t>(id)]);
  return outputs;
}

at::Tensor run_one(const std::string& graph, const Tensors& inputs, std::int64_t opset) {
  return run_onnx(graph, inputs, opset).at(0);
}

std::string error_of(const std::string& graph, const Tensors& inputs) {
  try {
    run_onnx(graph, inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string gradient_node(const at::Tensor& tensor) {
  return tensor.grad_fn() ? tensor.grad_fn()->name() : "none";
}

at::Tensor reals(std::vector<double> values, std::vector<std::int64_t> sizes) {
  return at::tensor(values, at::kFloat).reshape(sizes);
}

at::Tensor longs(std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); }

at::Tensor trainable(std::vector<std::int64_t> sizes) {
  return at::randn(sizes).set_requires_grad(true);
}

bool close(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && at::allclose(a, b, 1e-4, 1e-5);
}

}  // namespace symprof::testing
