#include "trace/passes/checkpoint_modules.h"
#include "trace/graph/module_patterns.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "trace/python/lifetimes/lifetimes.h"

namespace {

using namespace symprof;
using Names = std::vector<std::string>;

/// x → layers.0 (a, b) → layers.1 (c, d) → head (e), where e also reads what a made.
struct Layers {
  Graph graph;
  ValueId last;
  std::vector<ValueId> made;

  Layers() {
    graph.scopes = {{},
                    {"layers", "ModuleList", 0},
                    {"layers.0", "Layer", 1},
                    {"layers.0.mlp", "Mlp", 2},
                    {"layers.1", "Layer", 1},
                    {"head", "Linear", 0}};
    last = graph.add_value({.name = "x", .kind = ValueKind::input});
    graph.inputs = {last};
    add("a", 2);
    add("b", 3);
    add("c", 4);
    add("d", 4);
    add("e", 5);
    graph.nodes.back().arguments.push_back({"other", ValueRef{made[0]}});
    graph.outputs = {last};
  }

  void add(const std::string& name, ScopeId scope) {
    const ValueId output = graph.add_value({.name = name});
    graph.nodes.push_back({.name = name,
                           .op = "aten::relu",
                           .arguments = {{"self", ValueRef{last}}},
                           .outputs = {output},
                           .scope = scope});
    made.push_back(output);
    last = output;
  }
};

/// x → layers.0 → layers.1 → layers.2 → two nodes of the root, whose forward is
/// `for layer in layers: h = layer(h)`, `y = relu(h)`, `return relu(y)`.
Graph loop_over_layers() {
  Graph graph;
  const auto line = [&](const char* text, SourceId caller) {
    const auto number = static_cast<std::int64_t>(graph.source_lines.size());
    graph.source_lines.push_back({.file = caller == no_source ? "root.py" : "layer.py",
                                  .function = "forward",
                                  .line = number,
                                  .text = text,
                                  .caller = caller});
    return static_cast<SourceId>(number);
  };
  const SourceId loop = line("h = layer(h)", no_source);
  const SourceId first = line("x = relu(x)", loop), second = line("return relu(x)", loop);
  ValueId last = graph.add_value({.name = "x", .kind = ValueKind::input});
  graph.inputs = {last};
  const auto add = [&](ScopeId scope, SourceId source) {
    const ValueId output = graph.add_value({.name = fmt::format("v{}", graph.values.size())});
    graph.nodes.push_back({.name = fmt::format("n{}", graph.nodes.size()),
                           .op = "aten::relu",
                           .arguments = {{"self", ValueRef{last}}},
                           .outputs = {output},
                           .scope = scope,
                           .source = source});
    last = output;
  };
  graph.scopes = {{}};
  for (ScopeId scope = 1; scope <= 3; ++scope) {
    graph.scopes.push_back({fmt::format("layers.{}", scope - 1), "Layer", 0});
    add(scope, first);
    add(scope, second);
  }
  add(0, line("y = relu(h)", no_source));
  add(0, line("return relu(y)", no_source));
  graph.outputs = {last};
  return graph;
}

Names names(const Graph& graph) {
  Names result;
  for (const Node& node : graph.nodes) result.push_back(node.name);
  return result;
}

const Graph& inside(const Node& node) {
  return *std::get<std::shared_ptr<const Graph>>(node.arguments.at(0).value);
}

}  // namespace

TEST_SUITE("checkpoint_modules") {
  TEST_CASE("each call of a module becomes one node with what is used after it as results") {
    Layers layers;
    trace::checkpoint_modules(layers.graph, {"layers.*"});
    trace::verify(layers.graph);
    CHECK(names(layers.graph) == Names{"layers.0", "layers.1", "e"});
    const Node& first = layers.graph.nodes[0];
    CHECK(first.op == "higher_order::tag_activation_checkpoint");
    CHECK(first.scope == 2);
    CHECK(first.arguments.size() == 2);  // The graph, and x.
    CHECK(first.outputs == std::vector<ValueId>{layers.made[0], layers.made[1]});
    CHECK(names(inside(first)) == Names{"a", "b"});
    CHECK(inside(first).inputs.size() == 1);
    CHECK(inside(first).outputs.size() == 2);
    trace::verify(inside(first));
    CHECK(layers.graph.nodes[1].outputs == std::vector<ValueId>{layers.made[3]});
  }

  TEST_CASE("names hold what a checkpointed module returns") {
    Graph graph = loop_over_layers();
    trace::checkpoint_modules(graph, {"layers.*"});
    REQUIRE(names(graph) == Names{"layers.0", "layers.1", "layers.2", "n6", "n7"});
    const std::vector<std::size_t> last_uses = trace::last_uses(graph, Lifetimes::frames);
    const auto death = [&](std::size_t node) {
      return last_uses[static_cast<std::size_t>(graph.nodes[node].outputs.at(0))];
    };
    CHECK(death(0) == 1);  // h is rebound when the next layer has returned.
    CHECK(death(1) == 2);
    CHECK(death(2) == 4);  // The root returns.
  }

  TEST_CASE("a star stays within one component of a path, and patterns do not nest") {
    Layers inner, both, nested;
    trace::checkpoint_modules(inner.graph, {"layers.0.*"});
    CHECK(names(inner.graph) == Names{"a", "layers.0.mlp", "c", "d", "e"});
    trace::checkpoint_modules(both.graph, {"layers.0", "layers.?"});
    CHECK(names(both.graph).front() == "layers.0");
    CHECK_THROWS_WITH_AS(trace::checkpoint_modules(nested.graph, {"layers.0.mlp", "layers.0"}),
                         doctest::Contains("checkpoint=layers.0.mlp matches only modules inside"),
                         Error);
  }

  TEST_CASE("what stands between the nodes of a call goes with it; two calls may not interleave") {
    Layers between, mixed;
    between.graph.nodes[0].scope = 4;  // a belongs to layers.1 now, b stands between.
    trace::checkpoint_modules(between.graph, {"layers.1"});
    CHECK(names(between.graph) == Names{"layers.1", "e"});
    CHECK(names(inside(between.graph.nodes[0])) == Names{"a", "b", "c", "d"});
    mixed.graph.nodes[0].scope = 4;
    CHECK_THROWS_WITH_AS(trace::checkpoint_modules(mixed.graph, {"layers.*"}),
                         doctest::Contains("are interleaved"), Error);
  }

  TEST_CASE("a pattern without a module is an error that names what repeats") {
    Layers layers;
    CHECK(trace::repeated_modules(layers.graph) == Names{"layers.*"});
    CHECK_THROWS_WITH_AS(trace::checkpoint_modules(layers.graph, {"blocks.*"}),
                         doctest::Contains("Modules that repeat: layers.*"), Error);
  }
}
