#include "trace/python/dtypes/casts_back.h"

#include <doctest/doctest.h>

namespace symprof::casts_back_test {
namespace {

/// x → up (a cast) → `between` → back (a cast), of one module; nothing tells what the casts name.
struct Turn {
  Graph graph;

  explicit Turn(const std::string& between) {
    graph.scopes = {{}, {"attention", "Attention", 0}};
    ValueId last = graph.add_value({.name = "x", .kind = ValueKind::input});
    graph.inputs = {last};
    for (const auto& [name, op] :
         {std::pair{"up", "aten::to"}, std::pair{"turned", between.c_str()},
          std::pair{"back", "aten::to"}}) {
      Node node{.name = name, .op = op, .arguments = {{"self", ValueRef{last}}}, .scope = 1};
      if (node.op == "aten::to") node.arguments.push_back({"dtype", DType::float32});
      node.outputs = {last = graph.add_value({.name = name})};
      graph.nodes.push_back(std::move(node));
    }
    graph.outputs = {last};
    graph.kept_casts = {"up", "back"};
  }

  /// Whether the second cast takes the dtype of x.
  bool follows() {
    trace::follow_casts_back(graph);
    const Node& back = graph.nodes[2];
    if (back.op != "aten::type_as") return false;
    CHECK(graph.kept_casts == std::vector<std::string>{"up"});
    const auto* self = std::get_if<ValueRef>(&back.arguments.at(0).value);
    const auto* other = std::get_if<ValueRef>(&back.arguments.at(1).value);
    return self != nullptr && self->id == graph.nodes[1].outputs[0] && other != nullptr &&
           other->id == graph.inputs[0];
  }
};

}  // namespace

TEST_SUITE("casts_back") {
  TEST_CASE("a cast of an upcast value casts back to the dtype before") {
    CHECK(Turn("aten::mul").follows());
  }

  TEST_CASE("a second cast of one tensor casts that again, not the first cast") {
    Turn twice("aten::to");
    twice.graph.kept_casts = {"up", "turned", "back"};
    CHECK_FALSE(twice.follows());
    for (const Node& node : twice.graph.nodes)
      CHECK(std::get<ValueRef>(node.arguments[0].value).id == twice.graph.inputs[0]);
  }

  TEST_CASE("type_as of a cast takes what was cast") {
    Turn turn("aten::mul");
    Node& back = turn.graph.nodes[2];
    back.op = "aten::type_as";
    back.arguments[1] = {"other", ValueRef{turn.graph.nodes[0].outputs[0]}};
    turn.graph.kept_casts = {"up"};
    CHECK(turn.follows());
  }

  TEST_CASE("a value that autocast has in another dtype is cast for that reason") {
    for (const std::string op : {"aten::linear", "aten::matmul", "aten::conv_transpose2d"})
      CHECK_FALSE(Turn(op).follows());
  }

  TEST_CASE("a cast in another place and a cast with a known line stay") {
    Turn elsewhere("aten::mul"), told("aten::mul");
    elsewhere.graph.nodes[2].scope = 0;
    CHECK_FALSE(elsewhere.follows());
    told.graph.kept_casts = {"up"};
    CHECK_FALSE(told.follows());
  }
}

}  // namespace symprof::casts_back_test
