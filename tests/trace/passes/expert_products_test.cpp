// Experts in graphs by hand, and what a rank gets of them.
#include "trace/passes/expert_products.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "trace/graph/uses.h"
#include "trace/passes/expert_parallel.h"

using namespace symprof;
using namespace symprof::trace;

namespace symprof::test::expert_products_test {
namespace {

constexpr std::int64_t experts = 8, rows = 32, width = 16, inner = 24;

/// Products of rows by expert, with what lies between them.
class ExpertGraph {
 public:
  ExpertGraph()
      : x_(add("x", {rows, width}, ValueKind::input)),
        ends_(add("ends", {experts}, ValueKind::input)) {
    graph.inputs = {x_, ends_};
  }

  ValueId weight(const std::string& name, std::vector<std::int64_t> sizes) {
    return add(name, std::move(sizes), ValueKind::parameter);
  }
  ValueId node(const std::string& op, const std::vector<ValueId>& read,
               std::vector<std::int64_t> sizes) {
    Node made{.name = "n" + std::to_string(graph.nodes.size()), .op = op};
    for (const ValueId id : read) made.arguments.push_back({"", ValueRef{id}});
    made.outputs = {add(made.name + "_out", std::move(sizes), ValueKind::result)};
    graph.nodes.push_back(std::move(made));
    return graph.nodes.back().outputs[0];
  }
  ValueId product(ValueId from, ValueId weight_id, std::int64_t features) {
    return node("aten::_grouped_mm", {from, weight_id, ends_}, {rows, features});
  }
  std::vector<ExpertProducts> found() { return find_experts(graph, specs); }
  ValueId x() const { return x_; }
  ValueId ends() const { return ends_; }

  Graph graph;
  ValueSpecs specs;

 private:
  ValueId add(const std::string& name, std::vector<std::int64_t> sizes, ValueKind kind) {
    auto strides = contiguous_strides(sizes);
    const TensorSpec spec{DType::bfloat16, std::move(sizes), std::move(strides), 0};
    specs.emplace_back(spec);
    return graph.add_value({.name = name, .kind = kind, .spec = spec});
  }

  ValueId x_, ends_;
};

/// Gate and up, which read the same rows, and down.
ExpertGraph gated() {
  ExpertGraph g;
  const ValueId gate = g.product(g.x(), g.weight("gate", {experts, width, inner}), inner);
  const ValueId stored = g.weight("up", {experts, inner, width});
  const ValueId seen = g.node("aten::transpose", {stored}, {experts, width, inner});
  const ValueId up = g.product(g.x(), seen, inner);
  const ValueId joined =
      g.node("aten::mul", {g.node("aten::silu", {gate}, {rows, inner}), up}, {rows, inner});
  const ValueId down = g.product(joined, g.weight("down", {experts, inner, width}), width);
  g.graph.outputs = {g.node("aten::relu", {down}, {rows, width})};
  return g;
}

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

}  // namespace

TEST_SUITE("expert_products") {
  TEST_CASE("products of the same rows and of what they made are one module's experts") {
    ExpertGraph g = gated();
    const std::vector<ExpertProducts> found = g.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].products.size() == 3);
    CHECK(found[0].rows == g.x());
    CHECK(found[0].ends == g.ends());
    CHECK(found[0].experts == experts);
    CHECK(found[0].between.size() == 2);
    CHECK(found[0].weights.size() == 3);
    for (const ValueId weight : found[0].weights)
      CHECK(g.graph.value(weight).kind == ValueKind::parameter);
  }

  TEST_CASE("rows that meet others of this rank are left out") {
    ExpertGraph g;
    const ValueId up = g.product(g.x(), g.weight("up", {experts, width, inner}), inner);
    const ValueId bias = g.node("aten::relu", {g.x()}, {rows, inner});
    const ValueId sum = g.node("aten::add", {up, bias}, {rows, inner});
    g.product(sum, g.weight("down", {experts, inner, width}), width);
    CHECK(g.found().empty());
  }

  TEST_CASE("weights that are no parameters are left out") {
    ExpertGraph g;
    const ValueId made =
        g.node("aten::mul", {g.weight("up", {experts, width, inner})}, {experts, width, inner});
    g.product(g.x(), made, inner);
    CHECK(g.found().empty());
  }

  TEST_CASE("a rank has its part of the weights, and rows go there and back") {
    ExpertGraph g = gated();
    const std::size_t nodes = g.graph.nodes.size();
    split_experts(g.graph, {.text = "ep=4", .expert = 4}, g.specs);
    CHECK_NOTHROW(verify(g.graph));
    for (const ValueId weight : expert_parameters(g.graph))
      CHECK(g.graph.value(weight).spec->sizes[0] == experts / 4);
    CHECK(expert_parameters(g.graph).size() == 3);
    const std::vector<std::string> after = ops(g.graph);
    CHECK(after.size() == nodes + 3 + 2);
    CHECK(std::ranges::count(after, "expert_parallel::dispatch") == 1);
    CHECK(after[after.size() - 2] == "expert_parallel::combine");
    const Uses uses(g.graph);
    for (const Node& node : g.graph.nodes)
      if (node.op == "aten::_grouped_mm")
        CHECK(g.graph.nodes[*uses.maker(operand(node, 2))].op == "expert_parallel::dispatch");
    CHECK(g.graph.warnings.size() == 1);
  }

  TEST_CASE("ranks divide the experts") {
    ExpertGraph g = gated();
    CHECK_THROWS_AS(split_experts(g.graph, {.text = "ep=3", .expert = 3}, g.specs), Error);
    ExpertGraph none;
    CHECK_THROWS_AS(split_experts(none.graph, {.text = "ep=2", .expert = 2}, none.specs), Error);
  }
}

}  // namespace symprof::test::expert_products_test
