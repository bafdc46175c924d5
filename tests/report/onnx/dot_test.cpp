// Drawings: the number of boxes, and both ends of every edge.
#include "report/onnx/dot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/onnx/node_data.h"
#include "report/onnx/page.h"
#include "tests/support/workbench_files.h"

namespace symprof::dot_test {
namespace {

using namespace workbench;

FoldedGraph drawn(const std::string& name, bool folds) {
  const auto path = test::workbench_file("models/" + name + ".onnx");
  return folded_graph(*read_model(path, Weights::skip), {.folds = folds, .has_modules = true},
                      path);
}

int nodes_drawn(const FoldedGraph& graph) {
  int count = 0;
  for (const Box& box : graph.boxes) count += box.kind == Box::Kind::node;
  return count;
}

}  // namespace

TEST_SUITE("workbench_dot") {
  TEST_CASE("an open drawing has a box for each node") {
    for (const std::string& name : test::workbench_names("models", false)) {
      INFO(name);
      const FoldedGraph graph = drawn(name, false);
      CHECK(nodes_drawn(graph) == graph.nodes);
      for (const Arrow& arrow : graph.arrows) {
        CHECK(!arrow.to_next);
        CHECK(static_cast<std::size_t>(arrow.from) < graph.boxes.size());
        CHECK(static_cast<std::size_t>(arrow.to) < graph.boxes.size());
      }
    }
  }

  TEST_CASE("bodies of If and Loop are clusters, with edges from their outputs to their node") {
    const FoldedGraph graph = drawn("corner", false);
    int bodies = 0;
    for (std::size_t i = 0; i < graph.clusters.size(); ++i) {
      if (graph.clusters[i].label.find(" of ") == std::string::npos) continue;
      ++bodies;
      const auto leaves = [&](const Arrow& arrow) {
        const auto from = static_cast<std::size_t>(arrow.from),
                   to = static_cast<std::size_t>(arrow.to);
        return graph.boxes[from].cluster == static_cast<int>(i) &&
               graph.boxes[to].cluster != static_cast<int>(i);
      };
      CHECK(std::any_of(graph.arrows.begin(), graph.arrows.end(), leaves));
    }
    CHECK(bodies == 5);  // Two branches, two in one of them, and a loop.
  }

  TEST_CASE("a page has the whole graph as data, and a name cannot close its script") {
    FoldedGraph graph =
        folded_graph(*read_model(test::workbench_file("models/llama.onnx"), Weights::skip),
                     {.folds = false, .has_modules = true, .has_details = true}, "llama");
    graph.boxes[0].name = "</script><script>alert(1)</script>";
    fmt::memory_buffer out;
    report::write_page(out, graph, {{"Fwd FLOPs"}, {{"node_linear", {{4096, "4.10 k"}}}}}, "a<b");
    const std::string page = fmt::to_string(out);
    CHECK(page.find("<title>a&lt;b: symprof") != std::string::npos);
    const std::string begin = "application/json\">";
    const std::size_t from = page.find(begin) + begin.size(), to = page.find("</script>", from);
    const auto data = nlohmann::json::parse(page.substr(from, to - from));
    CHECK(data["boxes"].size() == graph.boxes.size());
    CHECK(data["arrows"].size() == graph.arrows.size());
    CHECK(data["boxes"][0]["n"] == graph.boxes[0].name);
    for (const auto& box : data["boxes"])
      if (box["n"] == "node_linear") {
        CHECK(box["v"][0] == 4096);
        CHECK(box["o"][0] == "linear: float32[2,8,16]");
      }
  }

  TEST_CASE("layers are drawn once, with the edge to the next layer") {
    const FoldedGraph graph = drawn("llama", true);
    // 271 nodes; the second of two layers of 123 is not drawn, nor repeated blocks inside a layer.
    CHECK(nodes_drawn(graph) <= 271 - 123);
    int to_next = 0;
    for (const Arrow& arrow : graph.arrows) to_next += arrow.to_next;
    CHECK(to_next > 0);
    CHECK(graph.clusters[1].label.find("2 × layers.0 … layers.1") != std::string::npos);
  }

  TEST_CASE("a repeated block inside a layer is in its module, and small blocks are not folded") {
    const FoldedGraph graph = drawn("llama", true);
    const auto find = [&](const std::string& label) {
      const auto found = std::ranges::find(graph.clusters, label, &Cluster::label);
      REQUIRE(found != graph.clusters.end());
      return *found;
    };
    const Cluster heads = find("3 × layers.0.self_attn.q_proj … layers.0.self_attn.v_proj");
    CHECK(graph.clusters[static_cast<std::size_t>(heads.parent)].label ==
          "layers.0.self_attn (LlamaAttention)");
    // Two of three products of the MLP are equal, with a Mul each.
    for (const char* product : {"gate_proj", "up_proj", "down_proj"})
      CHECK(find(std::string("layers.0.mlp.") + product + " (Linear)").times == 1);
    CHECK(nodes_drawn(graph) < 150);
  }

  TEST_CASE("Model Explorer's node data has the costs of a graph by node") {
    const Model model =
        read_model(test::workbench_file("models/gpt_functions.onnx"), Weights::skip);
    fmt::memory_buffer out;
    // A call has its function's costs, and values other than nodes have none.
    report::write_model_explorer(
        out, *model, "fwd_flops",
        {{"/decoder/LLM/a/MatMul", 12}, {"/decoder/LLM/b", 30}, {"Identity_0", 1}, {"loss", 5}});
    const auto data = nlohmann::json::parse(fmt::to_string(out));
    const auto& results = data["main_graph"]["results"];
    CHECK(results.size() == 2);
    CHECK(results["/decoder/LLM"]["value"] == 42);
    CHECK(results["Identity_0"]["value"] == 1);
    CHECK(data["main_graph"]["gradient"].size() == 2);
  }

  TEST_CASE("colors follow costs") {
    fmt::memory_buffer out;
    report::write_dot(out, drawn("cnn", true), {{"node_Conv_35", 100}, {"node_relu", 0}});
    const std::string text = fmt::to_string(out);
    CHECK(text.starts_with("digraph model {"));
    CHECK(text.find("#ffffff") != std::string::npos);
  }
}

}  // namespace symprof::dot_test
