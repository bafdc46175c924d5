#include "trace/onnx/reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "tests/support/source_folder.h"
#include "trace/onnx/scopes.h"

namespace symprof::reader_test {
namespace {

/// A model of opset 20 around `graph`, and `functions` after it.
Graph parse(const std::string& graph, const std::string& functions = "") {
  return trace::parse_onnx_text(
      R"(<ir_version: 10, opset_import: ["" : 20, "local" : 1], producer_name: "test">)" + graph +
          functions,
      "model.onnx");
}

std::string message(const std::string& graph, const std::string& functions = "") {
  try {
    parse(graph, functions);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

const Value& value(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.values.begin(), graph.values.end(),
                                  [&](const Value& value) { return value.name == name; });
  REQUIRE(found != graph.values.end());
  return *found;
}

std::vector<std::int64_t> integers(const Value& value) {
  REQUIRE(value.constant != nullptr);
  std::vector<std::int64_t> numbers(value.constant->data.size() / sizeof(std::int64_t));
  std::memcpy(numbers.data(), value.constant->data.data(), value.constant->data.size());
  return numbers;
}

}  // namespace

TEST_SUITE("onnx_reader") {
  TEST_CASE("nodes, inputs, attributes and symbols") {
    const Graph graph = parse(R"(g (float[N,3] x, float[3,4] w) => (float[N,4] y)
      { y = Gemm <alpha = 0.5, transB = 0> (x, w) })");
    REQUIRE(graph.nodes.size() == 1);
    const Node& node = graph.nodes.front();
    CHECK(node.op == "onnx::Gemm");
    REQUIRE(node.arguments.size() == 4);
    CHECK(std::get<ValueRef>(node.arguments[1].value).id == graph.inputs[1]);
    CHECK(node.arguments[2].name == "alpha");
    CHECK(std::get<double>(node.arguments[2].value) == 0.5);
    CHECK(graph.producer == "test");
    CHECK(graph.opsets.front() == std::pair<std::string, std::int64_t>{"ai.onnx", 20});
    const Value& x = graph.values[static_cast<std::size_t>(graph.inputs[0])];
    CHECK(x.dimensions[0].symbol == "N");
    CHECK(x.dimensions[0].size == -1);
    CHECK(x.dimensions[1].size == 3);
  }

  TEST_CASE("weights are parameters, statistics buffers, integers and scalars constants") {
    const Graph graph = parse(R"(g (float[1,2,5,5] x) => (float[1,2] y)
      <float[2,2,1,1] kernel = {1, 2, 3, 4}, float[2] scale = {1, 1}, float[2] shift = {0, 0},
       float[2] mean = {0, 0}, float[2] variance = {1, 1}, int64[2] axes = {2, 3},
       float half = {0.5}, float[1] val_7 = {2}, float[2,2] val_9 = {1, 2, 3, 4}>
      { a = Conv(x, kernel)
        b = BatchNormalization(a, scale, shift, mean, variance)
        c = ReduceMean <keepdims = 0> (b, axes)
        d = Mul(c, half)
        e = MatMul(d, val_9)
        y = Mul(e, val_7) })");
    CHECK(value(graph, "kernel").kind == ValueKind::parameter);
    CHECK(value(graph, "kernel").spec->bytes() == 2 * 2 * 1 * 1 * 4);
    CHECK(value(graph, "scale").kind == ValueKind::parameter);
    CHECK(value(graph, "mean").kind == ValueKind::buffer);
    CHECK(value(graph, "variance").kind == ValueKind::buffer);
    CHECK(value(graph, "half").kind == ValueKind::constant);
    CHECK(value(graph, "val_7").kind == ValueKind::constant);
    CHECK(value(graph, "val_9").kind == ValueKind::parameter);
    CHECK(integers(value(graph, "axes")) == std::vector<std::int64_t>{2, 3});
  }

  TEST_CASE("integers are arithmetic by their use and width, not by their names") {
    const Graph graph = parse(R"(g (float[2,4] x) => (float[2,4] y, float[2,4] z)
      <int8[4,4] weight = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, float[4] scale = {1.0, 1.0, 1.0, 1.0},
       int32[4] zero = {0, 0, 0, 0}, uint8[4] mask = {1, 0, 1, 0}, int64[2] rows = {2, 4}, int32[2] table = {1, 2}>
      { w = DequantizeLinear <axis = 1> (weight, scale, zero)
        h = MatMul (x, w)
        m = Cast <to = 1> (mask)
        s = Mul (h, m)
        y = Reshape (s, rows)
        z = local.Own (y, table) })");
    CHECK(value(graph, "weight").kind == ValueKind::buffer);
    CHECK(value(graph, "zero").kind == ValueKind::buffer);
    CHECK(value(graph, "mask").kind == ValueKind::buffer);
    CHECK(value(graph, "table").kind == ValueKind::buffer);
    CHECK(value(graph, "rows").kind == ValueKind::constant);
    CHECK(integers(value(graph, "rows")) == std::vector<std::int64_t>{2, 4});
  }

  TEST_CASE("a constant node is a value and not a node") {
    const Graph graph = parse(R"(g (float[2,3] x) => (float[6] y)
      { shape = Constant <value = int64[1] {6}> ()
        y = Reshape(x, shape) })");
    CHECK(graph.nodes.size() == 1);
    CHECK(integers(value(graph, "shape")) == std::vector<std::int64_t>{6});
  }

  TEST_CASE("nodes are sorted topologically, in the file's order if possible") {
    const Graph graph = parse(R"(g (float[2] x) => (float[2] z)
      { z = Add(y, w)
        y = Relu(x)
        w = Neg(y) })");
    CHECK(graph.nodes[0].op == "onnx::Relu");
    CHECK(graph.nodes[1].op == "onnx::Neg");
    CHECK(graph.nodes[2].op == "onnx::Add");
  }

  TEST_CASE("a local function is inlined, its call is a scope") {
    const Graph graph =
        parse(R"(g (float[2] x) => (float[2] y) { y = local.Block <slope = 0.25> (x) })",
              R"(<opset_import: ["" : 20, "local" : 1], domain: "local">
                                 Block <slope> (a) => (b) { c = local.Inner(a)
                                   b = LeakyRelu <alpha: float = @slope> (c) }
                                 <opset_import: ["" : 20], domain: "local">
                                 Inner (a) => (b) { b = Relu(a) })");
    REQUIRE(graph.nodes.size() == 2);
    CHECK(graph.nodes[0].op == "onnx::Relu");
    const Scope& inner = graph.scopes[static_cast<std::size_t>(graph.nodes[0].scope)];
    CHECK(inner.type == "Inner");
    CHECK(inner.path == "Block.Inner");
    CHECK(graph.scopes[static_cast<std::size_t>(inner.parent)].type == "Block");
    CHECK(graph.nodes[1].arguments.back().name == "alpha");
    CHECK(std::get<double>(graph.nodes[1].arguments.back().value) == 0.25);
    CHECK(value(graph, "y").kind == ValueKind::result);
  }

  TEST_CASE("a subgraph lists its captures") {
    const Graph graph = parse(R"(g (bool c, float[2] x) => (float[2] y)
      { y = If (c) <then_branch = t () => (float[2] a) { a = Relu(x) },
                    else_branch = e () => (float[2] b) { b = Neg(x) }> })");
    REQUIRE(graph.nodes.size() == 1);
    const auto& arguments = graph.nodes[0].arguments;
    const auto find = [&](const std::string& name) {
      return std::find_if(arguments.begin(), arguments.end(),
                          [&](const Argument& argument) { return argument.name == name; });
    };
    const auto captures = std::get<std::vector<ListElement>>(find("then_branch.captures")->value);
    REQUIRE(captures.size() == 1);
    CHECK(std::get<ValueRef>(captures[0]).id == graph.inputs[1]);
    const auto body = std::get<std::shared_ptr<const Graph>>(find("then_branch")->value);
    CHECK(body->inputs.size() == 1);
    CHECK(body->nodes[0].op == "onnx::Relu");
  }

  TEST_CASE("an unknown operator is kept under its domain") {
    const Graph graph = parse(R"(g (float[2] x) => (float[2] y) { y = local.Magic(x) })");
    CHECK(graph.nodes[0].op == "local::Magic");
  }

  TEST_CASE("errors name the node and the value") {
    const std::string cycle = message(R"(g (float[2] x) => (float[2] y)
      { y = Add(x, b)
        a = Relu(y)
        b = Neg(a) })");
    CHECK(contains(cycle, "cycle"));
    CHECK(contains(cycle, "Relu"));
    CHECK(contains(cycle, "Neg"));
    const std::string dangling = message("g (float[2] x) => (float[2] y) { y = Add(x, lost) }");
    CHECK(contains(dangling, "(Add) reads 'lost', which nothing defines"));
    CHECK(contains(message("g (float[2] x) => (float[2] y) { y = Relu(x)  y = Neg(x) }"),
                   "defines 'y', which node number 0 (Relu) defines already"));
    CHECK(contains(message("g (float[2] x) => (float[2] y) { z = Relu(x) }"), "graph output 'y'"));
    CHECK(contains(message("g (float[2] x) => (float[2] y) { y = local.F(x) }",
                           R"(<opset_import: ["local" : 1], domain: "local">
                              F (a) => (b) { b = local.G(a) }
                              <opset_import: ["local" : 1], domain: "local">
                              G (a) => (b) { b = local.F(a) })"),
                   "the function F calls itself"));
  }

  TEST_CASE("invalid and truncated models") {
    const auto what = [](const std::string& bytes) {
      try {
        trace::read_onnx(bytes, "m.onnx");
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string("no error");
    };
    CHECK(contains(what(""), "the file is empty"));
    CHECK(contains(what("import torch\n"), "not an ONNX model"));
    // ir_version 8, then a graph of 100 missing bytes.
    CHECK(contains(what({"\x08\x08\x3a\x64", 4}), "wants 100 bytes and 0 are left"));
    CHECK(contains(what({"\x08\x08", 2}), "no graph"));
    CHECK_THROWS_AS(trace::load_onnx("no/such/file.onnx"), Error);
  }

  TEST_CASE("an old opset is read") {
    const Graph graph = trace::parse_onnx_text(R"(<ir_version: 8, opset_import: ["" : 6]>
        g (float[2] x) => (float[2] y) { y = Clip <min = 0.0> (x) })",
                                               "old.onnx");
    CHECK(graph.opsets.front().second == 6);
    CHECK(graph.nodes.front().op == "onnx::Clip");
  }

  TEST_CASE("a dropout's unused mask is no output") {
    const Graph unread = parse("g (float[2] x) => (float[2] y) { y, mask = Dropout(x) }");
    CHECK(unread.nodes.at(0).outputs.size() == 1);
    const Graph read = parse("g (float[2] x) => (float[2] y, bool[2] m) { y, m = Dropout(x) }");
    CHECK(read.nodes.at(0).outputs.at(1) == read.outputs.at(1));
  }

  TEST_CASE("scopes come from the exporter's metadata, or from node names") {
    const std::string models = test::source_folder() + "/models/";
    const auto has_scope = [](const Graph& graph, const std::string& path,
                              const std::string& type) {
      return std::any_of(graph.scopes.begin(), graph.scopes.end(), [&](const Scope& scope) {
        return scope.path == path && scope.type.ends_with(type);
      });
    };
    const Graph dynamo = trace::load_onnx(models + "vit_b_16.onnx");
    CHECK(dynamo.scopes.front().type.ends_with("VisionTransformer"));
    CHECK(has_scope(dynamo, "encoder.layers.encoder_layer_0.mlp", "MLPBlock"));
    CHECK(has_scope(trace::load_onnx(models + "resnet50_torchscript.onnx"), "layer1.0.conv1", ""));
  }

  TEST_CASE("scope lists are Python lists") {
    CHECK(trace::parse_python_list(R"(['', 'a.b', "it's"])") ==
          std::vector<std::string>{"", "a.b", "it's"});
    CHECK(trace::parse_python_list("[]").empty());
  }
}

}  // namespace symprof::reader_test
