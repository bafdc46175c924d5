#include "trace/passes/other_guess.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "trace/passes/function_calls.h"
#include "trace/torchscript/load.h"

namespace {

using namespace symprof;
using namespace symprof::trace;

/// A trace in float32, without lines of Python: an input, a parameter and nodes.
struct Trace {
  Graph graph{.traits = trace::script_traits};
  ValueId x = add_leaf("x", ValueKind::input), weight = add_leaf("weight", ValueKind::parameter);

  ValueId add_leaf(const std::string& name, ValueKind kind, std::vector<std::int64_t> sizes = {4}) {
    return graph.add_value(
        {.name = name,
         .kind = kind,
         .spec = TensorSpec{.dtype = DType::float32, .sizes = std::move(sizes)}});
  }

  ValueId add(const std::string& op, std::vector<Argument> arguments, ScopeId scope = 0,
              DType made = DType::float32) {
    const std::string name = fmt::format("n{}", graph.nodes.size());
    const ValueId id = graph.add_value({.name = name, .recorded_dtype = made});
    graph.nodes.push_back({.name = name,
                           .op = op,
                           .arguments = std::move(arguments),
                           .outputs = {id},
                           .scope = scope});
    return id;
  }

  ValueId cast(ValueId from, ScopeId scope = 0) {
    return add("aten::to", {{"self", ValueRef{from}}, {"dtype", DType::float32}}, scope);
  }

  ValueId positions() {
    const ValueId made = add("aten::arange", {{"end", std::int64_t{4}}}, 0, DType::int64);
    return cast(made);
  }

  DType dtype(ValueId made) const {
    for (const Node& node : graph.nodes)
      if (node.outputs[0] == made) return std::get<DType>(node.arguments.at(1).value);
    return DType::float64;
  }

  ValueId read(std::size_t node, std::size_t argument = 0) const {
    return std::get<ValueRef>(graph.nodes[node].arguments[argument].value).id;
  }

  void to_bfloat16(const FunctionCalls& calls = {}) {
    cast_floating_point(graph, DType::bfloat16, calls);
  }
};

}  // namespace

TEST_SUITE("other_guess") {
  TEST_CASE("a cast from integers is the model's dtype where float32 is refused") {
    Trace model;
    const ValueId places = model.positions();
    model.to_bfloat16();
    REQUIRE(model.dtype(places) == DType::float32);
    CHECK(take_other_guess(model.graph, std::vector{places, model.weight}));
    CHECK(model.dtype(places) == DType::bfloat16);
    CHECK(model.graph.guessed_dtypes.at(0).is_corrected);
    CHECK_FALSE(take_other_guess(model.graph, std::vector{places, model.weight}));
  }

  TEST_CASE("of two guesses, a parameter that was cast stays in float32") {
    Trace model;
    const ValueId places = model.positions(), frequencies = model.cast(model.weight);
    model.to_bfloat16();
    REQUIRE(model.dtype(frequencies) == DType::bfloat16);
    CHECK(take_other_guess(model.graph, std::vector{frequencies, places}));
    CHECK(model.dtype(frequencies) == DType::float32);
    CHECK(model.dtype(places) == DType::float32);
  }

  TEST_CASE("of two guesses, what was left in float32 follows an activation") {
    Trace model;
    const ValueId places = model.positions(),
                  activation = model.cast(model.add("aten::relu", {{"self", ValueRef{model.x}}}));
    model.to_bfloat16();
    CHECK(take_other_guess(model.graph, std::vector{activation, places}));
    CHECK(model.dtype(places) == DType::bfloat16);
    CHECK(model.dtype(activation) == DType::bfloat16);
  }

  TEST_CASE("a constant that nothing names, and the dtype of a softmax") {
    Trace model;
    const ValueId table = model.add_leaf("table", ValueKind::constant);
    const ValueId softmax =
        model.add("aten::softmax", {{"self", ValueRef{model.x}}, {"dtype", DType::float32}});
    model.to_bfloat16();
    CHECK(model.graph.value(table).spec->dtype == DType::float32);
    CHECK(model.graph.guessed_dtypes.empty());
    CHECK(take_other_guess(model.graph, std::vector{table, model.weight}));
    CHECK(model.graph.value(table).spec->dtype == DType::bfloat16);
    CHECK(take_other_guess(model.graph, std::vector{softmax, model.weight}));
    CHECK(model.dtype(softmax) == DType::bfloat16);
  }

  TEST_CASE("nothing is changed in a graph that has its own dtype") {
    Trace model;
    CHECK_FALSE(take_other_guess(model.graph, std::vector{model.positions(), model.weight}));
  }
}

TEST_SUITE("dtypes_of_a_trace") {
  TEST_CASE("a constant without numbers follows") {
    Trace model;
    const ValueId empty = model.add_leaf("empty", ValueKind::constant, {0});
    const ValueId full = model.add_leaf("full", ValueKind::constant, {1});
    model.to_bfloat16();
    CHECK(model.graph.value(empty).spec->dtype == DType::bfloat16);
    CHECK(model.graph.value(full).spec->dtype == DType::float32);
    REQUIRE(model.graph.guessed_dtypes.size() == 1);
    CHECK(model.graph.guessed_dtypes[0].is_constant);
  }

  TEST_CASE("a cast that its function undoes stays, and what comes after it reads x") {
    Trace model;
    const ValueId up = model.cast(model.x);
    const ValueId inside = model.add("aten::cos", {{"self", ValueRef{up}}});
    const ValueId back = model.cast(inside);
    model.add("aten::add", {{"self", ValueRef{up}}, {"other", ValueRef{back}}});
    Trace unknown = model;
    model.to_bfloat16({{"n0", 7}, {"n2", 7}});
    CHECK(model.dtype(up) == DType::float32);
    CHECK(model.dtype(back) == DType::bfloat16);
    CHECK(model.read(1) == up);
    CHECK(model.read(3) == model.x);
    unknown.to_bfloat16({{"n0", 7}, {"n2", 8}});
    CHECK(unknown.dtype(up) == DType::bfloat16);
    CHECK(unknown.read(3) == up);
  }

  TEST_CASE(
      "modules beside each other cast what they are given, one inside of another its result") {
    Trace model;
    model.graph.scopes = {{}, {"a", "A", 0}, {"b", "B", 0}, {"a.c", "C", 1}};
    const ValueId table = model.add("aten::cos", {{"self", ValueRef{model.x}}});
    const ValueId first = model.cast(table, 1);
    model.cast(first, 3);
    model.cast(first, 2);
    model.to_bfloat16();
    CHECK(model.read(2) == first);
    CHECK(model.read(3) == table);
  }

  TEST_CASE("a sequence that goes straight into a product with a parameter has its dtype") {
    Trace model;
    const ValueId places = model.positions(), others = model.positions();
    model.add("aten::mv", {{"self", ValueRef{model.weight}}, {"vec", ValueRef{places}}});
    model.add("aten::mul", {{"self", ValueRef{model.weight}}, {"other", ValueRef{others}}});
    model.to_bfloat16();
    CHECK(model.dtype(places) == DType::bfloat16);
    CHECK(model.dtype(others) == DType::float32);
  }
}
