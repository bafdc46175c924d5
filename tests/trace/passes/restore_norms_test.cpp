#include "trace/passes/restore_norms.h"

#include <doctest/doctest.h>

#include "trace/graph/uses.h"
#include "trace/onnx/reader.h"
#include "trace/passes/training_mode.h"

namespace symprof::restore_norms_test {
namespace {

Graph folded_graph() {
  Graph graph = trace::parse_onnx_text(R"(<ir_version: 10, opset_import: ["" : 20]>
      g (float[1,3,4,4] x) => (float[1,2,4,4] z)
      <float[2,3,1,1] conv_weight = {1, 2, 3, 4, 5, 6}, float[2] conv_weight_bias = {1, 2}>
      { y = Conv(x, conv_weight, conv_weight_bias)  z = Relu(y) })",
                                       "model.onnx");
  graph.export_record.folded_norms = {{.result = graph.nodes[0].outputs[0],
                                       .module = "bn",
                                       .is_known = true,
                                       .weight = "bn.weight",
                                       .running_mean = "bn.running_mean",
                                       .running_var = "bn.running_var",
                                       .channels = 2,
                                       .product_module = "conv"}};
  return graph;
}

std::string warnings(Graph graph) {
  trace::set_training_mode(graph, trace::TrainingMode::train);
  std::string all;
  for (const std::string& warning : graph.warnings) all += warning + "\n";
  return all;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("restore_norms") {
  TEST_CASE("a folded norm stands behind its convolution again") {
    Graph graph = folded_graph();
    const ValueId result = graph.nodes[0].outputs[0];
    trace::restore_norms(graph);
    trace::verify(graph);
    REQUIRE(graph.nodes.size() == 3);
    const Node& conv = graph.nodes[0];
    const Node& norm = graph.nodes[1];
    CHECK(trace::operand(conv, 2) == no_value);  // The model's convolution has no bias.
    CHECK(graph.scopes[static_cast<std::size_t>(conv.scope)].path == "conv");
    CHECK(norm.op == "aten::batch_norm");
    CHECK(trace::operand(norm, 0) == conv.outputs[0]);
    CHECK(norm.outputs[0] == result);
    const Value& weight = graph.value(trace::operand(norm, 1));
    CHECK(weight.name == "bn.weight");
    CHECK(weight.kind == ValueKind::parameter);
    CHECK(weight.spec->sizes == std::vector<std::int64_t>{2});
    CHECK(trace::operand(norm, 2) == no_value);
    CHECK(graph.value(trace::operand(norm, 3)).kind == ValueKind::buffer);
    CHECK(graph.warnings.empty());
  }

  TEST_CASE("a norm that the file does not tell enough of is named") {
    Graph graph = folded_graph();
    graph.export_record.folded_norms.front().is_known = false;
    trace::restore_norms(graph);
    CHECK(graph.nodes.size() == 2);
    REQUIRE(graph.warnings.size() == 1);
    CHECK(contains(graph.warnings[0], "in no figure: bn."));
    CHECK(contains(graph.warnings[0], "optimize=False"));
  }

  TEST_CASE("what is said of dropout is what the file tells of its export") {
    Graph graph = folded_graph();
    CHECK(contains(warnings(graph), "does not say whether batch norm was folded"));
    graph.export_record.names_calls = true;
    CHECK(contains(warnings(graph), "The file has no dropout. If the model has any"));
    graph.export_record.mode = ExportMode::evaluation;
    CHECK(contains(warnings(graph), "exported in evaluation mode, without dropout"));
    graph.export_record.mode = ExportMode::training;
    CHECK(warnings(graph).empty());
    graph.export_record.lost_dropouts = {"h.0.attn", "h.1.attn"};
    CHECK(contains(warnings(graph),
                   "dropout inside of attention out, and it is in no figure: "
                   "h.0.attn, h.1.attn."));
  }
}

}  // namespace symprof::restore_norms_test
