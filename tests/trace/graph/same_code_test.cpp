#include "trace/graph/same_code.h"

#include <doctest/doctest.h>

#include <functional>

namespace symprof::test {
namespace {

TensorSpec of_rows(std::int64_t rows) { return {.dtype = DType::float32, .sizes = {rows, 4}}; }

/// relu(x) → add(…, weight), in a module, with a line.
Graph code(std::int64_t rows) {
  Graph graph;
  graph.path = "model.pt2";
  graph.scopes = {{}, {"block", "Block", 0}};
  graph.source_lines = {{.file = "model.py", .function = "forward", .line = 3, .text = "x = f(x)"}};
  const ValueId x = graph.add_value({.name = "x", .kind = ValueKind::input, .spec = of_rows(rows)});
  const ValueId weight =
      graph.add_value({.name = "weight", .kind = ValueKind::parameter, .spec = of_rows(8)});
  const ValueId y = graph.add_value({.name = "y"}), z = graph.add_value({.name = "z"});
  graph.inputs = {x};
  graph.nodes = {
      {.name = "relu", .op = "aten::relu", .arguments = {{"self", ValueRef{x}}}, .outputs = {y}},
      {.name = "add",
       .op = "aten::add",
       .arguments = {{"self", ValueRef{y}},
                     {"other", ValueRef{weight}},
                     {"alpha", std::int64_t{1}}},
       .outputs = {z},
       .scope = 1,
       .source = 0}};
  graph.outputs = {z};
  return graph;
}

}  // namespace

TEST_SUITE("same_code") {
  TEST_CASE("other sizes of inputs are the same code") {
    CHECK(trace::has_same_code(code(2), code(2)));
    CHECK(trace::has_same_code(code(2), code(3)));
  }

  TEST_CASE("an input whose spec becomes that of another value is other code") {
    CHECK_FALSE(trace::has_same_code(code(2), code(8)));
  }

  TEST_CASE("whatever else changes is other code") {
    const std::function<void(Graph&)> changes[] = {
        [](Graph& graph) { graph.nodes[0].op = "aten::gelu"; },
        [](Graph& graph) { graph.nodes[0].arguments[0].value = ValueRef{1}; },
        [](Graph& graph) { graph.nodes[1].arguments[2].value = std::int64_t{2}; },
        [](Graph& graph) { graph.nodes[1].arguments[2].value = 1.0; },
        [](Graph& graph) { graph.nodes[1].scope = 0; },
        [](Graph& graph) { graph.nodes[1].source = no_source; },
        [](Graph& graph) { graph.nodes[1].releases = {2}; },
        [](Graph& graph) { graph.nodes.pop_back(); },
        [](Graph& graph) { graph.scopes[1].type = "Other"; },
        [](Graph& graph) { graph.source_lines[0].text = "y = f(x)"; },
        [](Graph& graph) { graph.values[2].name = "w"; },
        [](Graph& graph) { graph.values[1].spec = of_rows(9); },
        [](Graph& graph) { graph.outputs = {2}; },
        [](Graph& graph) {
          graph.mutations = {{1, 3}};
        },
        [](Graph& graph) { graph.traits.has_python_lines = true; },
    };
    for (const auto& change : changes) {
      Graph other = code(3);
      change(other);
      CHECK_FALSE(trace::has_same_code(code(2), other));
    }
  }
}

}  // namespace symprof::test
