// Drawings: how many boxes, and that every arrow has two ends.
#include "workbench/draw/dot.h"

#include <doctest/doctest.h>

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

  TEST_CASE("layers are drawn once, and the arrow to the next one is there") {
    const FoldedGraph graph = drawn("llama", true);
    // 271 nodes; the second of two layers of 123 is not drawn, nor what repeats inside of one.
    CHECK(nodes_drawn(graph) <= 271 - 123);
    int to_next = 0;
    for (const Arrow& arrow : graph.arrows) to_next += arrow.to_next;
    CHECK(to_next > 0);
    CHECK(graph.clusters[1].label.find("2 × layers.0 … layers.1") != std::string::npos);
  }

  TEST_CASE("colours follow costs") {
    fmt::memory_buffer out;
    write_dot(out, drawn("cnn", true), {{"node_Conv_35", 100}, {"node_relu", 0}});
    const std::string text = fmt::to_string(out);
    CHECK(text.starts_with("digraph model {"));
    CHECK(text.find("#ffffff") != std::string::npos);
  }
}

}  // namespace symprof::dot_test
