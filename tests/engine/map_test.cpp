// The mapping of nodes to layers.
#include "engine/map.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/modules.h"
#include "engine/read.h"
#include "engine/summary.h"
#include "tests/support/engine_text.h"
#include "trace/onnx/reader.h"

namespace symprof::engine {
namespace {

using test::engine_samples;
using test::layer_text;
using test::tensor_text;

/// A quantized residual block: both inputs of the convolution, the residual and the result have Q
/// and DQ, as NVIDIA's pytorch-quantization exports them.
constexpr auto quantized_block = R"(<ir_version: 8, opset_import: ["" : 13]>
block (float[1, 8, 4, 4] x, float[8, 8, 1, 1] w, float s, int8 z) => (float[1, 8, 4, 4] y) {
  [Q_in] xq = QuantizeLinear (x, s, z)
  [DQ_in] xd = DequantizeLinear (xq, s, z)
  [Q_w] wq = QuantizeLinear (w, s, z)
  [DQ_w] wd = DequantizeLinear (wq, s, z)
  [Conv_0] c = Conv (xd, wd)
  [Q_res] rq = QuantizeLinear (x, s, z)
  [DQ_res] rd = DequantizeLinear (rq, s, z)
  [Add_1] a = Add (c, rd)
  [Relu_2] r = Relu (a)
  [Q_out] rrq = QuantizeLinear (r, s, z)
  [DQ_out] rrd = DequantizeLinear (rrq, s, z)
  [Flatten_3] f = Flatten (rrd)
  [Reshape_4] y = Identity (f)
})";

Model parse_model(const std::string& text) {
  return model_of(trace::parse_onnx_text(text, "block.onnx"));
}

struct Named {
  const char* name;
  const char* module;
};

/// The model in `text`, with names that ONNX's text syntax does not have.
Model parse_model(const std::string& text, const std::vector<Named>& names) {
  Graph graph = trace::parse_onnx_text(text, "named.onnx");
  REQUIRE(graph.nodes.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    graph.nodes[i].name = names[i].name;
    graph.nodes[i].scope = static_cast<ScopeId>(graph.scopes.size());
    graph.scopes.push_back({.path = names[i].module});
  }
  return model_of(graph);
}

const LayerNodes& nodes_at(const NodeMap& map, std::size_t layer) { return map.layers.at(layer); }

std::vector<std::string> names_of(const Model& model, const LayerNodes& layer) {
  std::vector<std::string> names;
  for (const int node : layer.nodes)
    names.push_back(model.nodes[static_cast<std::size_t>(node)].name);
  return names;
}

const NodeMapping& mapping_of(const Model& model, const NodeMap& map, const std::string& name) {
  return map.nodes.at(static_cast<std::size_t>(model.nodes_by_name.at(name)));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_SUITE("engine_map") {
  TEST_CASE("names identify the convolution, data flow the absorbed nodes") {
    const Model model = parse_model(quantized_block);
    const Engine engine =
        read_engine("[" +
                        layer_text("Q_in", "Reformat", tensor_text("x", "Float"),
                                   tensor_text("xq", "Int8"), R"(, "Origin": "QDQ")") +
                        "," +
                        layer_text("w + Q_w + Conv_0 + Add_1 + Relu_2", "CaskConvolution",
                                   tensor_text("xq", "Int8") + "," + tensor_text("x", "Float"),
                                   tensor_text("rrq", "Int8")) +
                        "," +
                        layer_text("Reformatting CopyNode for Output Tensor 0 to DQ_out",
                                   "Reformat", tensor_text("rrq", "Int8"),
                                   tensor_text("rrd", "Float"), R"(, "Origin": "REFORMAT")") +
                        "]",
                    "block.json");
    const NodeMap map = map_nodes(engine, model);
    CHECK(names_of(model, nodes_at(map, 0)) == Names{"Q_in"});
    CHECK(names_of(model, nodes_at(map, 1)) ==
          Names{"DQ_in", "Q_w", "DQ_w", "Conv_0", "Q_res", "DQ_res", "Add_1", "Relu_2", "Q_out"});
    const NodeMapping& absorbed = mapping_of(model, map, "DQ_in");
    CHECK(absorbed.layers.at(0).rule == Rule::flow);
    CHECK(mapping_of(model, map, "Conv_0").layers.at(0).rule == Rule::name);
    CHECK(mapping_of(model, map, "Flatten_3").mapping == Mapping::view);
    const auto role = [&](const char* node) {
      return quantizer_role(engine, model, map, model.nodes_by_name.at(node));
    };
    CHECK(role("Q_in") == "alone");
    CHECK(role("DQ_in") == "absorbed");
    CHECK(role("Q_out") == "absorbed");
    CHECK(role("Conv_0").empty());
  }

  TEST_CASE("the log shows fused and duplicate quantizers") {
    const Model model = parse_model(quantized_block);
    const Engine engine = read_engine(
        "[08/20/2024-19:31:30] [V] [TRT] Eliminating Q_res which duplicates (Q) Q_in\n"
        "[08/20/2024-19:31:30] [V] [TRT] QuantizeDoubleInputNodes: fusing Q_out into Conv_0\n"
        "[08/20/2024-19:31:30] [V] [TRT] QuantizeDoubleInputNodes: fusing (DQ_in and DQ_w) into "
        "Conv_0\n"
        "Layer(CaskConvolution): w + Q_w + Conv_0 + Add_1 + Relu_2, Tactic: 0x1, a (Int8[1,8]) -> "
        "b (Int8[1,8])\n",
        "build.log");
    const NodeMap map = map_nodes(engine, model);
    for (const char* name : {"Q_out", "DQ_in", "DQ_w"}) {
      CAPTURE(name);
      const NodeMapping& mapping = mapping_of(model, map, name);
      REQUIRE(mapping.layers.size() == 1);
      CHECK(mapping.layers[0].rule == Rule::log);
      CHECK(mapping.layers[0].certainty == Certainty::certain);
    }
    CHECK(quantizer_role(engine, model, map, model.nodes_by_name.at("Q_res")) == "duplicate");
  }

  TEST_CASE("marks with any separator, and Myelin's spelling") {
    const Model model =
        parse_model(R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) {
  a = MatMul (x, w)
  b = MatMul (x, w)
  y = Add (a, b)
})",
                    {{"/l.0/q/MatMul", "l.0.q"}, {"/l.0/k/MatMul", "l.0.k"}, {"/l.0/Add", "l.0"}});
    for (const char* between : {"\\u001e", "\\u001f", "", "\xEF\xBF\xBD"}) {
      CAPTURE(between);
      const Engine engine = read_engine(
          "[" +
              layer_text("__myl_Add_myl0_1", "kgen", "", "",
                         std::string(R"(, "Metadata": "[ONNX Layer: /l.0/Add])") + between +
                             R"([ONNX Layer: /l.0/k/MatMul]")") +
              "," + layer_text("/l_0/q/MatMul+/l_0/k/MatMul_myl0_0", "gemm", "", "") + "]",
          "myelin.json");
      const NodeMap map = map_nodes(engine, model);
      CHECK(names_of(model, nodes_at(map, 0)) == Names{"/l.0/k/MatMul", "/l.0/Add"});
      CHECK(names_of(model, nodes_at(map, 1)) == Names{"/l.0/q/MatMul", "/l.0/k/MatMul"});
      CHECK(nodes_at(map, 1).region == "region 0");
    }
  }

  TEST_CASE("a region without kernels has the nodes between its tensors") {
    const Model model = parse_model(quantized_block);
    const Engine engine = read_engine(
        "[" +
            layer_text("{ForeignNode[Q_in...Relu_2]}", "Myelin", tensor_text("x", "Float"),
                       tensor_text("Reformatted Output Tensor 0 to {ForeignNode[Q_in...Relu_2]}",
                                   "Half")) +
            "," +
            layer_text(
                "Reformatting CopyNode for Output Tensor 0 to {ForeignNode[Q_in...Relu_2]}",
                "Reformat",
                tensor_text("Reformatted Output Tensor 0 to {ForeignNode[Q_in...Relu_2]}", "Half"),
                tensor_text("r", "Float")) +
            "]",
        "region.json");
    const NodeMap map = map_nodes(engine, model);
    CHECK(nodes_at(map, 0).nodes.size() == 9 + 1);  // Up to Relu_2, and a parallel node.
    CHECK(nodes_at(map, 1).owner == 0);
    CHECK(mapping_of(model, map, "Q_out").mapping ==
          Mapping::kernel);  // Beside the region: its neighbor.
    CHECK(mapping_of(model, map, "Q_out").layers.at(0).rule == Rule::neighbor);
  }

  TEST_CASE("an engine of TensorRT 10.16: every layer and node") {
    const Model model = read_model(engine_samples + "mnist.onnx");
    const Engine engine = read_engine(engine_samples + "mnist.graph.json");
    const NodeMap map = map_nodes(engine, model);
    CHECK(std::ranges::all_of(map.layers, &LayerNodes::is_resolved));
    for (const NodeMapping& mapping : map.nodes) CHECK(mapping.mapping == Mapping::kernel);
    CHECK(names_of(model, nodes_at(map, 0)) == Names{"node_conv2d", "node_relu"});
    // One Gemm became a product and the sum of its bias, in the kernel of the softmax.
    CHECK(mapping_of(model, map, "node_linear_1").layers.size() == 2);
    // The cast of an output: not from a node.
    CHECK(nodes_at(map, 8).nodes.empty());
    CHECK(model.nodes[static_cast<std::size_t>(nodes_at(map, 8).serves)].name == "node_argmax");
  }

  TEST_CASE("layers fold by module, each once") {
    const Model model = parse_model(
        R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) {
  a = MatMul (x, w)
  b = Relu (a)
  y = MatMul (b, w)
})",
        {{"/net/a/fc/MatMul", "net.a.fc"}, {"/net/a/Relu", "net.a"}, {"/net/b/MatMul", "net.b"}});
    Engine engine = read_engine(
        R"(["/net/a/fc/MatMul + /net/a/Relu", "Reformatting CopyNode for Input Tensor 0 to /net/b/MatMul",
            "/net/b/MatMul"])",
        "names.json");
    const Times times{.runs = 1,
                      .layers = {{engine.layers[0].name, 1.0},
                                 {engine.layers[1].name, 2.0},
                                 {engine.layers[2].name, 4.0}}};
    const EngineSummary summary = summarize(engine, &times);
    const NodeMap map = map_nodes(engine, model);
    const auto rows = fold_by_module(summary, model, map, 0);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].module == "net.a");
    CHECK(rows[0].layers.measured_ms == 1.0);
    CHECK(rows[1].module == "net.b");
    CHECK(rows[1].layers.measured_ms == 2.0 + 4.0);
    const auto folded = fold_by_module(summary, model, map, 1);
    REQUIRE(folded.size() == 1);
    CHECK(folded[0].module == "net");
    CHECK(folded[0].nodes == 3);
  }
}

}  // namespace symprof::engine
