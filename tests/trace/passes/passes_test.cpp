#include <doctest/doctest.h>

#include "base/error.h"
#include "trace/onnx/reader.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace {

using namespace symprof;
using namespace symprof::trace;
using Sizes = std::vector<std::int64_t>;

Value input(const std::string& name, const std::vector<Dimension>& dimensions) {
  Value value{.name = name, .kind = ValueKind::input, .dimensions = dimensions};
  TensorSpec spec;
  for (const Dimension& dimension : dimensions) spec.sizes.push_back(dimension.size);
  spec.strides = contiguous_strides(spec.sizes);
  value.spec = spec;
  return value;
}

/// x [s0 = 2, 3], y [3*s0 = 6, 5], and n, which is s1 = 7 itself.
Graph symbolic_graph() {
  Graph graph;
  Value n{.name = "n", .kind = ValueKind::input, .dimensions = {{7, "s1"}}};
  n.scalar = std::int64_t{7};
  graph.inputs = {graph.add_value(input("x", {{2, "s0"}, {3, ""}})),
                  graph.add_value(input("y", {{6, "3*s0"}, {5, ""}})), graph.add_value(n)};
  graph.symbol_ranges = {{"s0", 2, 64}};
  return graph;
}

const Sizes& sizes(const Graph& graph, std::size_t index) {
  return graph.values[index].spec->sizes;
}

/// The message of what `action` throws.
template <class Action>
std::string message(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void check_says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != text.npos);
}

Node node(const std::string& op, std::vector<Argument> arguments) {
  return {.name = op, .op = op, .arguments = std::move(arguments)};
}

}  // namespace

TEST_SUITE("passes") {
  TEST_CASE("inputs and sizes are parsed") {
    const InputOverride full = parse_input_override("x=float32[8, 3,batch]");
    CHECK(full.name == "x");
    CHECK(full.dtype == DType::float32);
    CHECK(full.dimensions.at(0).size == 8);
    CHECK(full.dimensions.at(2).symbol == "batch");
    CHECK_FALSE(parse_input_override("x=[8]").dtype);
    CHECK(parse_input_override("x=bf16[]").dimensions.empty());
    CHECK(parse_binding("batch=8") == std::pair<std::string, std::int64_t>{"batch", 8});
    for (const char* bad : {"", "x", "x=8", "=float32[8]", "x=float32[8", "x=float32[8,]",
                            "x=float32[-1]", "x=float32[8 9]", "x=float32[99999999999999999999]"})
      CHECK_THROWS_AS(parse_input_override(bad), Error);
    for (const char* bad : {"", "batch", "batch=", "=8", "batch=-1", "batch=8.5", "batch=x"})
      CHECK_THROWS_AS(parse_binding(bad), Error);
    check_says(message([] { parse_input_override("x=flaot32[8]"); }), "Did you mean 'float32'?");
  }

  TEST_CASE("without options the example's sizes hold") {
    Graph graph = symbolic_graph();
    graph.values.push_back({.name = "r", .spec = TensorSpec{}});
    bind_inputs(graph, {}, {});
    CHECK(sizes(graph, 0) == Sizes{2, 3});
    CHECK(sizes(graph, 1) == Sizes{3 * 2, 5});
    CHECK(std::get<std::int64_t>(*graph.values[2].scalar) == 7);
    CHECK(graph.values.back().spec);
    CHECK(graph.warnings.empty());
  }

  TEST_CASE("a symbol binds every dimension that depends on it") {
    Graph graph = symbolic_graph();
    graph.values.push_back({.name = "r", .spec = TensorSpec{}});
    bind_inputs(graph, {}, {{"s0", 4}, {"s1", 9}});
    CHECK(sizes(graph, 0) == Sizes{4, 3});
    CHECK(sizes(graph, 1) == Sizes{3 * 4, 5});
    CHECK(graph.values[1].spec->strides == Sizes{5, 1});
    CHECK(std::get<std::int64_t>(*graph.values[2].scalar) == 9);
    CHECK_FALSE(graph.values.back().spec);
  }

  TEST_CASE("a dimension can be named by its input") {
    Graph direct = symbolic_graph(), derived = symbolic_graph();
    bind_inputs(direct, {}, {{"x.0", 4}});
    bind_inputs(derived, {}, {{"y.0", 3 * 4}});
    for (const Graph* graph : {&direct, &derived}) {
      CHECK(sizes(*graph, 0) == Sizes{4, 3});
      CHECK(sizes(*graph, 1) == Sizes{3 * 4, 5});
    }
  }

  TEST_CASE("an override fixes the symbol of its dimension for all inputs") {
    Graph graph = symbolic_graph();
    bind_inputs(graph, {parse_input_override("x=bf16[5,4]")}, {});
    CHECK(graph.values[0].spec == TensorSpec{DType::bfloat16, {5, 4}, {4, 1}, 0});
    CHECK(sizes(graph, 1) == Sizes{3 * 5, 5});
    Graph renamed = symbolic_graph();
    bind_inputs(renamed, {parse_input_override("x=[batch,3]")}, {{"batch", 6}});
    CHECK(sizes(renamed, 1) == Sizes{3 * 6, 5});
  }

  TEST_CASE("new sizes keep the example's memory order") {
    Graph graph;
    graph.inputs = {graph.add_value(input("x", {{2, "n"}, {3, ""}, {4, ""}, {4, ""}}))};
    graph.values[0].spec->strides = {3 * 4 * 4, 1, 4 * 3, 3};
    bind_inputs(graph, {}, {{"n", 8}});
    CHECK(graph.values[0].spec->strides == Sizes{3 * 4 * 4, 1, 4 * 3, 3});
    bind_inputs(graph, {parse_input_override("x=[8,5,4,4]")}, {});
    CHECK(graph.values[0].spec->strides == Sizes{5 * 4 * 4, 1, 4 * 5, 5});
  }

  TEST_CASE("an empty batch is a size") {
    Graph graph = symbolic_graph();
    bind_inputs(graph, {}, {{"s0", 0}});
    CHECK(sizes(graph, 0) == Sizes{0, 3});
    CHECK(graph.warnings.size() == 1);
    check_says(graph.warnings[0], "s0 is 0; the graph was exported for 2 to 64");
  }

  TEST_CASE("what cannot be bound says what can") {
    const auto bind = [](const std::vector<InputOverride>& overrides,
                         const std::vector<std::pair<std::string, std::int64_t>>& bindings) {
      return message([&] {
        Graph graph = symbolic_graph();
        bind_inputs(graph, overrides, bindings);
      });
    };
    check_says(bind({}, {{"S00", 4}}), "no input has a dimension called 'S00'");
    check_says(bind({}, {{"s00", 4}}), "Did you mean 's0'?");
    check_says(bind({}, {{"wholly_other", 4}}), "Known: ");
    check_says(bind({}, {{"x.1", 4}}), "no input has a dimension called 'x.1'");
    check_says(bind({}, {{"s0", 4}, {"x.0", 5}}), "s0 is 5 here and 4 elsewhere");
    check_says(bind({parse_input_override("xx=[1,2]")}, {}), "the model has no input 'xx'");
    check_says(bind({parse_input_override("n=int64[1]")}, {}), "is a number, not a tensor");
    check_says(bind({parse_input_override("x=[1]")}, {}), "1 dimensions; the file's input has 2");
    check_says(bind({parse_input_override("x=[4,3]")}, {{"s0", 5}}), "s0 is 5 here and 4");
    check_says(bind({}, {{"s0", std::int64_t{1} << 60}}), "more than 2^50 bytes");
  }

  TEST_CASE("a symbol without an example needs a size") {
    const auto open = [] {
      Graph graph;
      graph.inputs = {graph.add_value(input("x", {{-1, "batch-size"}, {-1, "n"}, {-1, ""}}))};
      return graph;
    };
    Graph graph = open();
    check_says(message([&] { bind_inputs(graph, {}, {{"n", 2}}); }), "nothing fixes dimension 0");
    graph = open();
    check_says(message([&] { bind_inputs(graph, {}, {{"batch-size", 2}}); }), "sizes n=8");
    graph = open();
    bind_inputs(graph, {}, {{"batch-size", 2}, {"n", 3}, {"x.2", 4}});
    CHECK(sizes(graph, 0) == Sizes{2, 3, 4});
  }

  TEST_CASE("evaluation switches off what only training does") {
    Graph graph;
    const ValueId count =
        graph.add_value({.name = "bn.num_batches_tracked", .kind = ValueKind::buffer});
    const ValueId counted = graph.add_value({.name = "add_"});
    graph.nodes = {node("aten::dropout", {{"p", 0.1}, {"train", true}}),
                   node("aten::batch_norm", {{"training", true}, {"running_mean", ValueRef{0}}}),
                   node("aten::scaled_dot_product_attention", {{"dropout_p", 0.1}}),
                   node("aten::add_", {{"self", ValueRef{count}}, {"other", std::int64_t{1}}})};
    graph.nodes[3].outputs = {counted};
    set_training_mode(graph, TrainingMode::eval);
    REQUIRE(graph.nodes.size() == 3);
    CHECK_FALSE(std::get<bool>(graph.nodes[0].arguments[1].value));
    CHECK_FALSE(std::get<bool>(graph.nodes[1].arguments[0].value));
    CHECK(std::get<double>(graph.nodes[2].arguments[0].value) == 0.0);
    CHECK(graph.warnings.empty());
  }

  TEST_CASE("training switches on what the file still says, and warns once about the rest") {
    Graph graph;
    graph.nodes = {node("aten::dropout", {{"p", 0.1}, {"train", false}}),
                   node("aten::batch_norm", {{"training", false}, {"running_mean", ValueRef{0}}}),
                   node("aten::instance_norm", {{"running_mean", ValueRef{0}}}),
                   node("aten::scaled_dot_product_attention", {{"dropout_p", 0.0}})};
    graph.add_value({.name = "m", .kind = ValueKind::buffer});
    set_training_mode(graph, TrainingMode::train);
    CHECK(std::get<bool>(graph.nodes[0].arguments[1].value));
    CHECK(std::get<bool>(graph.nodes[1].arguments[0].value));
    CHECK(graph.nodes[2].arguments.at(1).name == "use_input_stats");
    CHECK(graph.warnings.size() == 1);
  }

  TEST_CASE("a norm without running statistics takes the input's in both modes") {
    Graph graph;
    graph.nodes = {node("aten::batch_norm", {{"running_mean", NoArgument{}}, {"training", true}}),
                   node("aten::_native_batch_norm_legit", {{"training", true}}),
                   node("aten::instance_norm", {{"use_input_stats", true}})};
    set_training_mode(graph, TrainingMode::eval);
    CHECK(std::get<bool>(graph.nodes[0].arguments[1].value));
    CHECK(std::get<bool>(graph.nodes[1].arguments[0].value));
    CHECK(std::get<bool>(graph.nodes[2].arguments[0].value));
  }

  TEST_CASE("a graph exported in training mode stays as it is, without a warning") {
    Graph graph;
    graph.nodes = {node("aten::dropout", {{"train", true}}),
                   node("aten::scaled_dot_product_attention", {})};
    set_training_mode(graph, TrainingMode::train);
    CHECK(std::get<bool>(graph.nodes[0].arguments[0].value));
    CHECK(graph.warnings.empty());
  }

  TEST_CASE("ONNX operators have their mode in an input or an attribute") {
    Graph graph;
    graph.traits = trace::onnx_traits;
    const ValueId x = graph.add_value({.name = "x", .kind = ValueKind::input});
    graph.nodes = {node("onnx::Dropout", {{"", ValueRef{x}}, {"seed", std::int64_t{1}}}),
                   node("onnx::BatchNormalization", {{"", ValueRef{x}}})};
    set_training_mode(graph, TrainingMode::train);
    const auto& dropout = graph.nodes[0].arguments;
    REQUIRE(dropout.size() == 4);
    const ValueId mode = std::get<ValueRef>(dropout[2].value).id;
    CHECK(graph.values[static_cast<std::size_t>(mode)].constant->data.at(0) == std::byte{1});
    CHECK(dropout[3].name == "seed");
    CHECK(std::get<std::int64_t>(graph.nodes[1].arguments[1].value) == 1);
    CHECK(graph.warnings.empty());
    CHECK_NOTHROW(verify(graph));
  }

  TEST_CASE("a cast reaches floating-point state and inputs, not integers") {
    Graph graph;
    graph.inputs = {graph.add_value(input("x", {{2, ""}}))};
    graph.add_value({.name = "w", .kind = ValueKind::parameter, .spec = TensorSpec{}});
    graph.add_value({.name = "i", .kind = ValueKind::buffer, .spec = TensorSpec{DType::int64}});
    graph.add_value({.name = "c", .kind = ValueKind::constant, .spec = TensorSpec{}});
    graph.add_value({.name = "r", .spec = TensorSpec{}});
    cast_floating_point(graph, DType::bfloat16);
    CHECK(graph.values[0].spec->dtype == DType::bfloat16);
    CHECK(graph.values[1].spec->dtype == DType::bfloat16);
    CHECK(graph.values[2].spec->dtype == DType::int64);
    CHECK(graph.values[3].spec->dtype == DType::float32);
    CHECK_FALSE(graph.values[4].spec);
    graph.traits = trace::onnx_traits;
    cast_floating_point(graph, DType::bfloat16);
    CHECK(graph.values[3].spec->dtype == DType::bfloat16);
  }
}
