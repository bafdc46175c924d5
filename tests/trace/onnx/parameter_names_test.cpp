// Initializers get their names back from the exporter's metadata.
#include "trace/onnx/parameter_names.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "trace/graph/uses.h"
#include "trace/onnx/folded_norms.h"
#include "trace/onnx/reader.h"

namespace symprof::parameter_names_test {
namespace {

using Names = std::vector<std::string>;

struct Model {
  Graph graph;
  Names calls;
  trace::ExportedCalls exported;
  trace::Signature signature;
  std::vector<ValueId> initializers;

  Model(const std::string& text, Names names) : calls(std::move(names)) {
    graph =
        trace::parse_onnx_text(R"(<ir_version: 10, opset_import: ["" : 20]>)" + text, "model.onnx");
    for (std::size_t id = 0; id < graph.values.size(); ++id) {
      Value& value = graph.values[id];
      if (value.kind == ValueKind::input || value.kind == ValueKind::result) continue;
      value.kind = ValueKind::constant;
      initializers.push_back(static_cast<ValueId>(id));
    }
  }

  /// Parameters of the model; their placeholders are "p_<path>".
  void has(const Names& paths) {
    for (const std::string& path : paths) {
      signature.kinds[path] = ValueKind::parameter;
      signature.targets["p_" + path] = path;
      signature.parameters.push_back(path);
    }
  }

  void call(const std::string& name, const Names& arguments) {
    exported[name].target = name;
    exported[name].arguments = arguments;
  }

  trace::NamedParameters run() {
    return trace::name_parameters(graph, calls, exported, signature, initializers);
  }

  std::string read_by(std::size_t node, std::size_t argument) const {
    return graph.value(trace::operand(graph.nodes[node], argument)).name;
  }
};

}  // namespace

TEST_SUITE("onnx_parameter_names") {
  TEST_CASE("a folded weight gets its own name back") {
    Model model(
        "g (float[5,2] x) => (float[5,3] y) <float[2,3] val_7 = {1, 2, 3, 4, 5, 6}> "
        "{ y = MatMul(x, val_7) }",
        {"linear"});
    model.has({"fc_weight"});
    model.call("linear", {"%x", "%p_fc_weight"});
    CHECK(model.run().merged.empty());
    CHECK(model.read_by(0, 1) == "fc_weight");
    CHECK(trace::missing_parameters(model.graph, model.signature, model.initializers).empty());
  }

  TEST_CASE("parameters merged into one initializer are separated") {
    Model model(
        R"(g (float[5,2] x) => (float[5,2] z) <float[2] a_weight = {1, 1}, float[2] a_bias = {0, 0}>
      { y = LayerNormalization(x, a_weight, a_bias)
        z = LayerNormalization(y, a_weight, a_bias) })",
        {"layer_norm", "layer_norm_1"});
    model.has({"a_weight", "a_bias", "b_weight", "b_bias"});
    model.call("layer_norm", {"%x", "[2]", "%p_a_weight", "%p_a_bias"});
    model.call("layer_norm_1", {"%y", "[2]", "%p_b_weight", "%p_b_bias"});
    CHECK(model.run().merged == Names{"b_weight", "b_bias"});
    CHECK(model.read_by(0, 1) == "a_weight");
    CHECK(model.read_by(1, 1) == "b_weight");
    CHECK(model.read_by(1, 2) == "b_bias");
    CHECK(model.initializers.size() == 4);
  }

  TEST_CASE("a tied weight stays shared") {
    Model model(R"(g (float[5,2] x) => (float[5,2] z) <float[2,2] e_weight = {1, 2, 3, 4}>
      { y = MatMul(x, e_weight)  z = MatMul(y, e_weight) })",
                {"matmul", "matmul_1"});
    model.has({"e_weight", "h_weight"});
    model.call("matmul", {"%x", "%p_e_weight"});
    model.call("matmul_1", {"%y", "%p_e_weight"});
    CHECK(model.run().merged.empty());
    CHECK(model.initializers.size() == 1);
  }

  TEST_CASE("a second layout of a weight is recognized as its copy") {
    Model model(R"(g (int64[5] i) => (float[5,3] z)
      <float[3,2] e_weight = {1, 2, 3, 4, 5, 6}, float[2,3] val_9 = {1, 3, 5, 2, 4, 6}>
      { y = Gather(e_weight, i)  z = MatMul(y, val_9) })",
                {"embedding", "linear"});
    model.has({"e_weight"});
    model.call("embedding", {"%p_e_weight", "%i"});
    model.call("linear", {"%y", "%p_e_weight"});
    const auto named = model.run();
    REQUIRE(named.copies.size() == 1);
    CHECK(model.graph.value(named.copies.begin()->first).name == "val_9");
    CHECK(model.graph.value(named.copies.begin()->second).name == "e_weight");
  }

  TEST_CASE("a dropped zero bias is restored") {
    Model model(
        "g (float[5,2] x) => (float[5,3] y) <float[3,2] fc_weight = {1, 2, 3, 4, 5, 6}> "
        "{ y = Gemm <transB = 1> (x, fc_weight) }",
        {"linear"});
    model.has({"fc_weight", "fc_bias"});
    model.call("linear", {"%x", "%p_fc_weight", "%p_fc_bias"});
    model.run();
    CHECK(model.read_by(0, 2) == "fc_bias");
    const ValueId bias = trace::operand(model.graph.nodes[0], 2);
    CHECK(model.graph.value(bias).spec->sizes == std::vector<std::int64_t>{3});
  }

  TEST_CASE("parameters in an unknown order are reported as lost") {
    Model model(
        "g (float[5,2] x) => (float[5,2] y) <float[2] val_1 = {1, 2}> "
        "{ y = Mul(x, val_1) }",
        {"mul"});
    model.has({"a", "b"});
    model.call("mul", {"%p_a", "%p_b"});
    CHECK(model.run().lost == Names{"a", "b"});
    CHECK(trace::missing_parameters(model.graph, model.signature, model.initializers) ==
          Names{"a", "b"});
  }

  TEST_CASE("a folded batch norm is identified by its call's parameters") {
    const std::string text =
        R"(g (float[1,3,4,4] x) => (float[1,2,4,4] y) <float[2,3,1,1] conv_weight = {1, 2, 3, 4, 5, 6}>
      { y = Conv(x, conv_weight) })";
    Model model(text, {"_native_batch_norm_legit_functional"});
    model.has({"conv_weight", "conv_bias", "bn_weight", "bn_mean", "bn_var"});
    model.call(
        "_native_batch_norm_legit_functional",
        {"%conv2d", "%p_bn_weight", "None", "%p_bn_mean", "%p_bn_var", "True", "0.2", "0.5"});
    trace::find_folded_norms(model.graph, model.calls, model.exported, model.signature);
    REQUIRE(model.graph.export_record.folded_norms.size() == 1);
    const FoldedNorm& norm = model.graph.export_record.folded_norms.front();
    CHECK(norm.is_known);
    CHECK(norm.weight == "bn_weight");
    CHECK(norm.bias.empty());
    CHECK(norm.product_module == "conv");
    CHECK(norm.product_bias == "conv_bias");
    CHECK(norm.channels == 2);
    CHECK(norm.momentum == 0.2);
    CHECK(norm.epsilon == 0.5);
    CHECK(trace::missing_parameters(model.graph, model.signature, model.initializers) ==
          Names{"bn_mean", "bn_var"});

    Model twice(text, model.calls);
    twice.signature = model.signature;
    twice.exported = model.exported;
    twice.exported[model.calls.front()].folded_norms = 2;
    trace::find_folded_norms(twice.graph, twice.calls, twice.exported, twice.signature);
    CHECK_FALSE(twice.graph.export_record.folded_norms.front().is_known);
  }
}

}  // namespace symprof::parameter_names_test
