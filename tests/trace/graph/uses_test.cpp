// Producers, consumers and argument look-up, on hand-made graphs.
#include "trace/graph/uses.h"

#include <doctest/doctest.h>

#include <optional>

namespace symprof::test {
namespace {

using Readers = std::vector<std::size_t>;

/// a = sin(x); b = add(a, a); c = cat([a, None, b]); returns c, and writes b back into the buffer.
struct Diamond {
  Graph graph;
  ValueId x, buffer, a, b, c;

  Diamond() {
    x = graph.add_value({.name = "x", .kind = ValueKind::input});
    buffer = graph.add_value({.name = "state", .kind = ValueKind::buffer});
    a = graph.add_value({.name = "a"});
    b = graph.add_value({.name = "b"});
    c = graph.add_value({.name = "c"});
    graph.inputs = {x};
    graph.nodes = {
        {.name = "sin", .op = "aten::sin", .arguments = {{"self", ValueRef{x}}}, .outputs = {a}},
        {.name = "add",
         .op = "aten::add",
         .arguments = {{"self", ValueRef{a}}, {"other", ValueRef{a}}, {"alpha", std::int64_t{2}}},
         .outputs = {b, no_value}},
        {.name = "cat",
         .op = "aten::cat",
         .arguments = {{"tensors",
                        std::vector<ListElement>{ValueRef{a}, NoArgument{}, ValueRef{b}}}},
         .outputs = {c}},
    };
    graph.outputs = {c, no_value};
    graph.mutations = {{.target = buffer, .source = b}};
  }
};

Readers readers(const trace::Uses& uses, ValueId id) {
  const auto all = uses.readers(id);
  return {all.begin(), all.end()};
}

}  // namespace

TEST_SUITE("uses") {
  TEST_CASE("the producer of a value is a node, or none") {
    const Diamond diamond;
    const trace::Uses uses(diamond.graph);
    CHECK(uses.maker(diamond.a) == std::optional<std::size_t>(0));
    CHECK(uses.maker(diamond.b) == std::optional<std::size_t>(1));
    CHECK(uses.maker(diamond.c) == std::optional<std::size_t>(2));
    CHECK(!uses.maker(diamond.x));
    CHECK(!uses.maker(diamond.buffer));
    CHECK(!uses.maker(no_value));
  }

  TEST_CASE("readers are in order, once per use") {
    const Diamond diamond;
    const trace::Uses uses(diamond.graph);
    CHECK(readers(uses, diamond.x) == Readers{0});
    CHECK(readers(uses, diamond.a) == Readers{1, 1, 2});
    CHECK(readers(uses, diamond.b) == Readers{2});
    CHECK(readers(uses, diamond.c).empty());
    CHECK(readers(uses, no_value).empty());
    CHECK(uses.last_reader(diamond.a) == std::optional<std::size_t>(2));
    CHECK(!uses.last_reader(diamond.c));
  }

  TEST_CASE("outputs and mutations are distinguished") {
    const Diamond diamond;
    const trace::Uses uses(diamond.graph);
    CHECK(uses.is_output(diamond.c));
    CHECK(!uses.is_output(diamond.b));
    CHECK(!uses.is_output(no_value));
    CHECK(uses.is_written_back(diamond.b));
    CHECK(!uses.is_written_back(diamond.buffer));
    CHECK(!uses.is_written_back(no_value));
  }

  TEST_CASE("the values of a nested graph are its own") {
    Diamond diamond;
    const auto body = std::make_shared<const Graph>(diamond.graph);
    diamond.graph.nodes[2].arguments.push_back({"body", body});
    const trace::Uses uses(diamond.graph);
    CHECK(readers(uses, diamond.a) == Readers{1, 1, 2});
  }

  TEST_CASE("dictionaries and nested lists contain values too") {
    Diamond diamond;
    const std::vector<Argument> entries = {{"key", ValueRef{diamond.x}}};
    diamond.graph.nodes[2].arguments.push_back({"options", entries});
    const trace::Uses uses(diamond.graph);
    CHECK(readers(uses, diamond.x) == Readers{0, 2});
  }
}

TEST_SUITE("arguments") {
  TEST_CASE("an argument is found by name, or by position among those without one") {
    const Node node{
        .arguments = {
            {"", std::int64_t{1}}, {"scale", 0.5}, {"", ValueRef{7}}, {"", NoArgument{}}}};
    CHECK(trace::find_argument(node, "scale") == &node.arguments[1]);
    CHECK(trace::find_argument(node, "scale", 0) == &node.arguments[0]);
    CHECK(trace::find_argument(node, "query", 1) == &node.arguments[2]);
    CHECK(trace::find_argument(node, "", 2) == &node.arguments[3]);
    CHECK(trace::find_argument(node, "query") == nullptr);
    CHECK(trace::find_argument(node, "query", 3) == nullptr);
  }

  TEST_CASE("an argument of another type is none") {
    const Node node{.arguments = {{"x", ValueRef{7}}, {"dim", std::int64_t{1}}}};
    const Argument* dim = trace::find_argument(node, "dim");
    REQUIRE(trace::argument_as<std::int64_t>(dim) != nullptr);
    CHECK(*trace::argument_as<std::int64_t>(dim) == 1);
    CHECK(trace::argument_as<double>(dim) == nullptr);
    CHECK(trace::argument_as<double>(nullptr) == nullptr);
    CHECK(trace::argument_at<ValueRef>(node, 0) != nullptr);
    CHECK(trace::argument_at<ValueRef>(node, 1) == nullptr);
    CHECK(trace::argument_at<ValueRef>(node, 2) == nullptr);
    CHECK(trace::value_of(trace::find_argument(node, "x")) == 7);
    CHECK(trace::value_of(dim) == no_value);
    CHECK(trace::value_of(nullptr) == no_value);
    CHECK(trace::operand(node, 0) == 7);
    CHECK(trace::operand(node, 1) == no_value);
    CHECK(trace::operand(node, 2) == no_value);
  }
}

}  // namespace symprof::test
