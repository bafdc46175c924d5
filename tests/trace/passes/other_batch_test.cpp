#include "trace/passes/other_batch.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "trace/exported/reader.h"
#include "trace/passes/prepare.h"

namespace symprof::test {
namespace {

using trace::BatchPlan;
using trace::fixed_batch;
using trace::set_batch;

ValueId add_input(Graph& graph, std::vector<Dimension> dimensions) {
  TensorSpec spec;
  for (const Dimension& dimension : dimensions) spec.sizes.push_back(dimension.size);
  spec.strides = contiguous_strides(spec.sizes);
  const ValueId id = graph.add_value({.name = "input" + std::to_string(graph.values.size()),
                                      .kind = ValueKind::input,
                                      .spec = spec,
                                      .dimensions = std::move(dimensions)});
  graph.inputs.push_back(id);
  return id;
}

Graph with_inputs(const std::vector<std::vector<Dimension>>& inputs) {
  Graph graph;
  for (const auto& dimensions : inputs) add_input(graph, dimensions);
  return graph;
}

/// A view of [2, 3] as [3, 2 · 3], whatever that means.
Graph with_view() {
  Graph graph = with_inputs({{{2, ""}, {3, ""}}});
  const ValueId result = graph.add_value({.name = "view", .spec = TensorSpec{}});
  graph.nodes.push_back({.name = "view",
                         .op = "aten::view",
                         .overload = "default",
                         .arguments = {{"self", ValueRef{graph.inputs[0]}},
                                       {"size", std::vector<std::int64_t>{3, 6}}},
                         .outputs = {result}});
  graph.outputs = {result};
  return graph;
}

}  // namespace

TEST_SUITE("other_batch") {
  TEST_CASE("the batch is the first dimension that all inputs have in common") {
    CHECK(fixed_batch(with_inputs({{{2, ""}, {3, ""}}, {{2, ""}}, {}})) == 2);
    CHECK_FALSE(fixed_batch(with_inputs({{{2, ""}}, {{3, ""}}})));
    CHECK_FALSE(fixed_batch(with_inputs({{{2, "s0"}}})));
    CHECK_FALSE(fixed_batch(with_inputs({{{2, ""}}, {{2, "s0"}}})));
    CHECK_FALSE(fixed_batch(with_inputs({{{2, ""}, {8, "batch"}}})));
    CHECK_FALSE(fixed_batch(with_inputs({{}})));
  }

  TEST_CASE("sizes follow the batch, in lists, numbers and tensors") {
    Graph graph = with_view();
    graph.nodes[0].arguments.push_back({"number", std::int64_t{2}});
    graph.nodes[0].arguments.push_back(
        {"mixed", std::vector<ListElement>{std::int64_t{2}, ValueRef{graph.inputs[0]}}});
    graph.nodes[0].arguments.push_back({"", ValueRef{graph.inputs[0]}});
    const TensorSpec two_numbers{.dtype = DType::int32, .sizes = {2}, .strides = {1}};
    const BatchPlan plan{.batch = 2,
                         .arguments = {{0, 1, {{.rest = 3}, {3, 1, 0}}, {}},
                                       {0, 2, {{1, 1, 1}}, {}},
                                       {0, 3, {{1, 2, 0}, {}}, {}},
                                       {0, 4, {{1, 1, 0}, {.rest = -1}}, two_numbers}},
                         .warnings = {"a guess"}};
    set_batch(graph, plan, 5);
    const Node& node = graph.nodes[0];
    CHECK(std::get<std::vector<std::int64_t>>(node.arguments[1].value) ==
          std::vector<std::int64_t>{3, 15});
    CHECK(std::get<std::int64_t>(node.arguments[2].value) == 6);
    const auto& mixed = std::get<std::vector<ListElement>>(node.arguments[3].value);
    CHECK(std::get<std::int64_t>(mixed[0]) == 25);
    CHECK(std::get<ValueRef>(mixed[1]).id == graph.inputs[0]);
    const Value& held = graph.value(std::get<ValueRef>(node.arguments[4].value).id);
    REQUIRE(held.constant);
    std::int32_t numbers[2];
    REQUIRE(held.constant->data.size() == sizeof numbers);
    std::memcpy(numbers, held.constant->data.data(), sizeof numbers);
    CHECK(numbers[0] == 5);
    CHECK(numbers[1] == -1);
    CHECK(graph.value(graph.inputs[0]).dimensions[0].symbol == "batch");
    CHECK_FALSE(graph.value(graph.outputs[0]).spec);
    CHECK(graph.warnings == plan.warnings);
  }

  TEST_CASE("a size of more than 64 bits is refused") {
    CHECK(trace::size_at({3, 2, 1}, 10) == 301);
    CHECK_THROWS_AS(trace::size_at({1, 2, 0}, std::int64_t{1} << 40), Error);
  }

  TEST_CASE("preparing a graph asks for a plan, and names the batch where there is none") {
    Graph graph = with_view();
    trace::PrepareOptions options{.sizes = {{"batch", 4}}};
    options.batch_plan_of = [](const Graph& example) {
      CHECK(fixed_batch(example) == 2);
      return BatchPlan{.batch = 2, .arguments = {{0, 1, {{.rest = 3}, {3, 1, 0}}, {}}}};
    };
    trace::prepare(graph, options);
    CHECK(graph.value(graph.inputs[0]).spec->sizes == std::vector<std::int64_t>{4, 3});
    CHECK(std::get<std::vector<std::int64_t>>(graph.nodes[0].arguments[1].value) ==
          std::vector<std::int64_t>{3, 12});

    options.batch_plan_of = [](const Graph&) -> BatchPlan { throw Error("node view", "no"); };
    Graph refused = with_view();
    refused.traits = trace::exported_traits;
    try {
      trace::prepare(refused, options);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.is_about("sizes", "batch"));
      CHECK(error.problem().find("node view: no") != std::string::npos);
      CHECK(error.advice().find("torch.export.Dim(\"batch\")") != std::string::npos);
    }
  }
}

}  // namespace symprof::test
