// Operators that ONNX defines as functions.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "trace/onnx/reader.h"

namespace symprof::definitions_test {
namespace {

Graph parse(const std::string& graph, int opset = 27) {
  return trace::parse_onnx_text(
      "<ir_version: 13, opset_import: [\"\" : " + std::to_string(opset) + "]> " + graph, "model");
}

std::ptrdiff_t count(const Graph& graph, std::string_view op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return node.op == op; });
}

const std::string convolution = R"(g (float[2,4,8] x, float[4,1,4] w, float[2,4,3] s)
  => (float[2,4,8] y, float[2,4,3] t) { y, t = CausalConvWithState)";

}  // namespace

TEST_SUITE("onnx_definitions") {
  TEST_CASE("an operator is read as its definition, also with an omitted input") {
    const Graph graph = parse(convolution + "(x, w, , s) }");
    CHECK(count(graph, "onnx::CausalConvWithState") == 0);
    CHECK(count(graph, "onnx::Conv") == 1);
    CHECK(std::any_of(graph.scopes.begin(), graph.scopes.end(),
                      [](const Scope& scope) { return scope.type == "CausalConvWithState"; }));
  }

  TEST_CASE("a definition depends on its node's inputs") {
    const Graph graph = parse(R"(g (float[2,4,8] x, float[4,1,4] w, float[2,4,3] s)
      => (float[2,4,8] y, float[2,4,3] t, float[2,4,8] u)
      { y, t = CausalConvWithState(x, w, , s)
        u = CausalConvWithState <activation = "silu"> (x, w) })");
    CHECK(count(graph, "onnx::Conv") == 2);
    // Only the second one has an activation.
    CHECK(count(graph, "onnx::Sigmoid") == 1);
  }

  TEST_CASE("the model's own function of the same name takes precedence") {
    const Graph graph = trace::parse_onnx_text(
        R"(<ir_version: 13, opset_import: ["" : 20, "local" : 1]>
           g (float[4] x) => (float[4] y) { y = local.SwiGLU(x) }
           <domain: "local", opset_import: ["" : 20]> SwiGLU (a) => (b) { b = Relu(a) })",
        "model");
    CHECK(count(graph, "onnx::Relu") == 1);
  }

  TEST_CASE("an opset without the operator is an Error") {
    CHECK_THROWS_AS(parse(convolution + "(x, w, , s) }", 20), Error);
  }

  TEST_CASE("an invalid node is an Error") {
    const auto refused = [](const std::string& graph) { CHECK_THROWS_AS(parse(graph), Error); };
    refused("g (float[2] x) => (float[2] y) { y = LinearAttention(x) }");
    refused("g (float[2] x) => (float[2] y) { y = LinearAttention <update_rule = \"other\"> () }");
    refused("g (float[2] x) => (float[2] y) { y = SwiGLU(x, x, x, x, x, x, x, x) }");
    refused("g (float[2] x) => (float[2] y, float[2] z) { y, z = SwiGLU(x) }");
  }
}

}  // namespace symprof::definitions_test
