#include "trace/passes/split_bias.h"

#include <doctest/doctest.h>

namespace {

using namespace symprof;
using Names = std::vector<std::string>;

ValueId add(Graph& graph, const std::string& name, std::vector<std::int64_t> sizes) {
  Value value{.name = name, .kind = ValueKind::parameter, .spec = TensorSpec{}};
  value.spec->strides = contiguous_strides(sizes);
  value.spec->sizes = std::move(sizes);
  return graph.add_value(std::move(value));
}

/// One node over x, a weight of `weight_sizes` and a bias.
Graph graph_of(Node node, std::vector<std::int64_t> weight_sizes, const Names& argument_names) {
  Graph graph;
  const ValueId x = add(graph, "x", {2, 4});
  const ValueId weight = add(graph, "weight", std::move(weight_sizes));
  const ValueId bias = add(graph, "bias", {4});
  node.name = "n";
  std::vector<Argument> operands = {
      {"", ValueRef{x}}, {"", ValueRef{weight}}, {"", ValueRef{bias}}};
  if (node.op == "aten::addmm") operands = {operands[2], operands[0], operands[1]};
  for (std::size_t i = 0; i < argument_names.size(); ++i) operands[i].name = argument_names[i];
  node.arguments.insert(node.arguments.begin(), operands.begin(), operands.end());
  node.outputs = {graph.add_value({.name = "y"})};
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  trace::split_bias(graph);
  trace::verify(graph);
  return graph;
}

Names ops(const Graph& graph) {
  Names result;
  for (const Node& node : graph.nodes) result.push_back(node.op);
  return result;
}

const std::vector<std::int64_t>& view_sizes(const Graph& graph) {
  return std::get<std::vector<std::int64_t>>(graph.nodes.at(1).arguments.at(1).value);
}

}  // namespace

TEST_SUITE("split_bias") {
  TEST_CASE("a linear layer becomes its product and an addition, in its scope") {
    for (const Names& names : {Names{"input", "weight", "bias"}, Names{}}) {
      const Graph graph = graph_of({.op = "aten::linear", .scope = 0}, {4, 4}, names);
      CHECK(ops(graph) == Names{"aten::linear", "aten::add"});
      CHECK(std::holds_alternative<NoArgument>(graph.nodes[0].arguments.at(2).value));
      CHECK(graph.nodes[1].name == "n_bias");
      CHECK(graph.nodes[1].outputs == graph.outputs);
    }
  }

  TEST_CASE("a convolution's bias is viewed for its spatial dimensions") {
    using Sizes = std::vector<std::int64_t>;
    const auto conv = [](const char* op, Sizes weight) { return graph_of({.op = op}, weight, {}); };
    CHECK(ops(conv("aten::conv2d", {4, 4, 3, 3})) ==
          Names{"aten::conv2d", "aten::view", "aten::add"});
    CHECK(view_sizes(conv("aten::conv1d", {4, 4, 3})) == Sizes{-1, 1});
    CHECK(view_sizes(conv("aten::conv2d", {4, 4, 3, 3})) == Sizes{-1, 1, 1});
    CHECK(view_sizes(conv("aten::convolution", {4, 4, 3, 3, 3})) == Sizes{-1, 1, 1, 1});
    CHECK(view_sizes(conv("onnx::Conv", {4, 4, 3, 3})) == Sizes{-1, 1, 1});
  }

  TEST_CASE("addmm without factors becomes mm") {
    const Graph graph = graph_of({.op = "aten::addmm"}, {4, 4}, {"self", "mat1", "mat2"});
    CHECK(ops(graph) == Names{"aten::mm", "aten::add"});
    CHECK(graph.nodes[0].arguments.at(0).name == "self");
    CHECK(graph.nodes[0].arguments.at(1).name == "mat2");
  }

  TEST_CASE("a factor before the bias keeps the operator whole") {
    CHECK(ops(graph_of({.op = "onnx::Gemm", .arguments = {{"beta", 0.5}}}, {4, 4}, {})) ==
          Names{"onnx::Gemm"});
    CHECK(ops(graph_of({.op = "onnx::Gemm", .arguments = {{"beta", 1.0}}}, {4, 4}, {})) ==
          Names{"onnx::Gemm", "aten::add"});
    CHECK(ops(graph_of({.op = "aten::addmm", .arguments = {{"alpha", std::int64_t{2}}}}, {4, 4},
                       {"self", "mat1", "mat2"})) == Names{"aten::addmm"});
  }
}
