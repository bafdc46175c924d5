// Edits of hand-made chains of nodes.
#include "trace/graph/edit.h"

#include <doctest/doctest.h>

#include "trace/graph/uses.h"

namespace symprof::test {
namespace {

using Names = std::vector<std::string>;

/// n0(x) → n1 → n2 → …; the last result is the graph's.
Graph chain(std::size_t length) {
  Graph graph;
  ValueId last = graph.add_value({.name = "x", .kind = ValueKind::input});
  graph.inputs = {last};
  for (std::size_t i = 0; i < length; ++i) {
    const ValueId made = graph.add_value({.name = "v" + std::to_string(i)});
    graph.nodes.push_back({.name = "n" + std::to_string(i),
                           .op = "aten::sin",
                           .arguments = {{"self", ValueRef{last}}},
                           .outputs = {made}});
    last = made;
  }
  graph.outputs = {last};
  return graph;
}

Names names(const Graph& graph) {
  Names result;
  for (const Node& node : graph.nodes) result.push_back(node.name);
  return result;
}

std::vector<bool> all(const Graph& graph) { return std::vector<bool>(graph.nodes.size(), true); }

}  // namespace

TEST_SUITE("edit") {
  TEST_CASE("an existing argument is set, a missing one is added by name") {
    Node node{.arguments = {{"", ValueRef{1}}, {"train", true}}};
    trace::set_argument(node, "train", false);
    trace::set_argument(node, "query", 0, ValueRef{2});
    trace::set_argument(node, "scale", 5, 0.5);
    REQUIRE(node.arguments.size() == 3);
    CHECK(*trace::argument_at<bool>(node, 1) == false);
    CHECK(trace::operand(node, 0) == 2);
    CHECK(node.arguments[2].name == "scale");
    CHECK(*trace::argument_at<double>(node, 2) == 0.5);
  }

  TEST_CASE("missing inputs before the set one become None; attributes stay last") {
    Node node{.arguments = {{"", ValueRef{1}}, {"seed", std::int64_t{3}}}};
    trace::set_input(node, 2, ValueRef{2});
    REQUIRE(node.arguments.size() == 4);
    CHECK(std::holds_alternative<NoArgument>(node.arguments[1].value));
    CHECK(trace::operand(node, 2) == 2);
    CHECK(node.arguments[3].name == "seed");
    trace::set_input(node, 1, ValueRef{5});
    CHECK(node.arguments.size() == 4);
    CHECK(trace::operand(node, 1) == 5);
  }

  TEST_CASE("a nested graph is changed in a copy") {
    const auto body = std::make_shared<const Graph>(chain(2));
    Argument argument{"body", body};
    Argument number{"dim", std::int64_t{1}};
    const auto drop_nodes = [](Graph& graph) { graph.nodes.clear(); };
    trace::change_nested(argument, drop_nodes);
    trace::change_nested(number, drop_nodes);
    CHECK(body->nodes.size() == 2);
    CHECK((*trace::argument_as<std::shared_ptr<const Graph>>(&argument))->nodes.empty());
    CHECK(*trace::argument_as<std::int64_t>(&number) == 1);
  }

  TEST_CASE("an unused chain is removed as a whole, only among candidates") {
    Graph graph = chain(4);
    graph.outputs = {graph.nodes[0].outputs[0]};
    CHECK(trace::remove_unread(graph, {false, false, true, true}) ==
          std::vector<bool>{false, false, true, true});
    CHECK(names(graph) == Names{"n0", "n1"});
    trace::remove_unread(graph, all(graph));
    CHECK(names(graph) == Names{"n0"});
  }

  TEST_CASE("outputs, mutations and used nodes are kept") {
    Graph graph = chain(3);
    trace::remove_unread(graph, all(graph));
    CHECK(graph.nodes.size() == 3);

    graph.outputs.clear();
    graph.mutations = {{.target = graph.inputs[0], .source = graph.nodes[1].outputs[0]}};
    trace::remove_unread(graph, all(graph));
    CHECK(names(graph) == Names{"n0", "n1"});

    graph.mutations.clear();
    trace::remove_unread(graph, {true, false});
    CHECK(names(graph) == Names{"n0", "n1"});
  }

  TEST_CASE("per-node data is removed with the nodes") {
    std::vector<int> known = {0, 1, 2, 3};
    trace::erase_gone(known, {true, false, true, false});
    CHECK(known == std::vector<int>{1, 3});
  }

  TEST_CASE("nodes are inserted before, after and first, in order") {
    Graph graph = chain(2);
    trace::NodeEdits edits(graph);
    edits.insert_after(0, {.name = "after0"});
    edits.insert_before(0, {.name = "before0"});
    edits.insert_before(1, {.name = "before1"});
    edits.insert_first({.name = "first"});
    edits.insert_first({.name = "second"});
    edits.insert_after(0, {.name = "after0_too"});
    edits.insert_after(1, {.name = "last"});
    CHECK(graph.nodes.size() == 2);
    edits.apply();
    CHECK(names(graph) == Names{"first", "second", "before0", "n0", "after0", "after0_too",
                                "before1", "n1", "last"});
  }

  TEST_CASE("an inserted node gets a unique name, and a default result of that name") {
    Graph graph = chain(1);
    trace::NodeEdits edits(graph);
    const ValueId made = edits.insert_before(0, {.name = "n0"});
    const ValueId given = edits.insert_after(0, {.name = "n0", .outputs = graph.outputs});
    edits.apply();
    CHECK(names(graph) == Names{"n0_", "n0", "n0__"});
    CHECK(graph.value(made).name == "n0_");
    CHECK(graph.nodes[0].outputs == std::vector<ValueId>{made});
    CHECK(given == graph.outputs[0]);
  }

  TEST_CASE("a replaced node is removed unless still used") {
    for (const bool has_other_reader : {false, true}) {
      Graph graph = chain(2);
      if (has_other_reader) graph.outputs.push_back(graph.nodes[0].outputs[0]);
      trace::NodeEdits edits(graph);
      const ValueId other = edits.insert_before(1, {.name = "cos"});
      edits.remove_if_unread(0);
      trace::set_argument(graph.nodes[1], "self", ValueRef{other});
      edits.apply();
      CHECK(names(graph) == (has_other_reader ? Names{"n0", "cos", "n1"} : Names{"cos", "n1"}));
    }
  }
}

}  // namespace symprof::test
