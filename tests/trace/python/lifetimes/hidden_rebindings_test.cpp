#include "trace/python/lifetimes/hidden_rebindings.h"

#include <doctest/doctest.h>

#include "trace/python/lifetimes/lifetimes.h"

namespace symprof::hidden_rebindings_test {
namespace {

/// state = embed(x); then for each of two layers `outputs = …; state = outputs[0]`, of which the
/// second line makes no node; then a last node.
struct Loop {
  Graph graph;
  ValueId x = no_value, state = no_value, mask = no_value, first = no_value;

  ValueId add(const std::string& name, SourceId source, const std::vector<ValueId>& read,
              std::int64_t size, ScopeId scope = 0) {
    Node node{.name = name, .op = "aten::relu", .scope = scope, .source = source};
    for (const ValueId id : read) node.arguments.push_back({"", ValueRef{id}});
    const ValueId made = graph.add_value({.name = name, .spec = TensorSpec{.sizes = {size}}});
    node.outputs = {made};
    graph.nodes.push_back(std::move(node));
    return made;
  }

  SourceId line(const std::string& text, SourceId caller = no_source) {
    graph.source_lines.push_back({.file = caller == no_source ? "model.py" : "layer.py",
                                  .function = "forward",
                                  .line = static_cast<std::int64_t>(graph.source_lines.size()),
                                  .text = text,
                                  .caller = caller});
    return static_cast<SourceId>(graph.source_lines.size()) - 1;
  }

  /// `mask_size`: of a value that the first layer alone reads.
  Loop(const std::string& body, std::int64_t mask_size) {
    graph.scopes = {{}, {"layers.0", "Layer", 0}, {"layers.1", "Layer", 0}};
    x = graph.add_value({.name = "x", .kind = ValueKind::input});
    graph.inputs = {x};
    state = add("embed", line("state = self.embed(x)"), {x}, 8);
    mask = add("mask", line("mask = relu(x)"), {x}, mask_size);
    const SourceId inside = line("return relu(state)", line(body));
    first = add("first", inside, {state, mask}, 8, 1);
    const ValueId second = add("second", inside, {first}, 8, 2);
    graph.outputs = {add("last", line("return relu(state)"), {second}, 8)};
  }

  std::string death(ValueId id) const {
    const auto last = trace::last_uses(graph, Lifetimes::frames);
    return graph.nodes[last[static_cast<std::size_t>(id)]].name;
  }
};

constexpr const char* usual = "outputs = layer(state, mask)";

}  // namespace

TEST_SUITE("hidden_rebindings") {
  TEST_CASE("the variable that a loop rebinds to its result releases its value") {
    const Loop loop(usual, 4);
    CHECK(loop.death(loop.state) == "first");
    CHECK(loop.death(loop.mask) ==
          "last");  // Another size: it may be needed by the first layer alone.
    CHECK(loop.death(loop.first) == "second");
  }

  TEST_CASE("if two variables may be the rebound one, none is assumed") {
    const Loop loop(usual, 8);
    CHECK(loop.death(loop.state) == "last");
    CHECK(loop.death(loop.mask) == "last");
  }

  TEST_CASE("a line that names its own result reads it") {
    const Loop loop("outputs = layer(outputs, state)", 4);
    CHECK(loop.death(loop.state) == "last");
  }
}

}  // namespace symprof::hidden_rebindings_test
