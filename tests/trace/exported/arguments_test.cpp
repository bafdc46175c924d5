// Every kind of argument in torch.export's schema.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <complex>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/exported_archive.h"
#include "tests/support/schema_kinds.h"
#include "trace/graph/graph.h"

namespace {

using namespace symprof;
using test::load;
using test::Program;
using test::relu_program;
using List = std::vector<ListElement>;
using Lists = std::vector<Argument>;

/// The relu program, whose node has one more argument.
Graph with_argument(const std::string& json) {
  Program program = relu_program();
  program.nodes = fmt::format(
      R"({{"target": "torch.ops.aten.relu.default", "name": "relu", "metadata": {{}},
          "inputs": [{{"name": "self", "arg": {{"as_tensor": {{"name": "x"}}}}}},
                     {{"name": "a", "arg": {}}}], "outputs": [{{"as_tensor": {{"name": "y"}}}}]}})",
      json);
  return load(program);
}

bool is_x(const ListElement& element, const Graph& graph) {
  const auto* ref = std::get_if<ValueRef>(&element);
  return ref != nullptr && ref->id == graph.inputs.at(0);
}

template <class T>
bool holds(const ArgumentValue& value, const T& wanted) {
  const T* held = std::get_if<T>(&value);
  return held != nullptr && *held == wanted;
}

struct Case {
  std::string json;
  bool (*is_right)(const ArgumentValue&, const Graph&);
};

using Value_ = const ArgumentValue&;
using Graph_ = const Graph&;

/// By union member.
const std::pair<std::string, Case> arguments[] = {
    {"as_none", {"true", [](Value_ v, Graph_) { return std::holds_alternative<NoArgument>(v); }}},
    {"as_tensor",
     {R"({"name": "x"})",
      [](Value_ v, Graph_ g) { return std::get<ValueRef>(v).id == g.inputs.at(0); }}},
    {"as_tensors",
     {R"([{"name": "x"}])", [](Value_ v, Graph_ g) { return is_x(std::get<List>(v).at(0), g); }}},
    {"as_int", {"-3", [](Value_ v, Graph_) { return holds<std::int64_t>(v, -3); }}},
    {"as_ints",
     {"[1, -1]",
      [](Value_ v, Graph_) {
        return holds(v, std::vector<std::int64_t>{1, -1});
      }}},
    {"as_float", {"0.5", [](Value_ v, Graph_) { return holds(v, 0.5); }}},
    {"as_floats",
     {"[0.5, 2]",
      [](Value_ v, Graph_) {
        return holds(v, std::vector{0.5, 2.0});
      }}},
    {"as_string", {R"("tanh")", [](Value_ v, Graph_) { return holds<std::string>(v, "tanh"); }}},
    {"as_strings",
     {R"(["a", "b"])",
      [](Value_ v, Graph_) {
        return holds(v, std::vector<std::string>{"a", "b"});
      }}},
    {"as_sym_int",
     {R"({"as_name": "x"})",
      [](Value_ v, Graph_ g) { return std::get<ValueRef>(v).id == g.inputs.at(0); }}},
    {"as_sym_ints",
     {R"([{"as_name": "x"}, {"as_int": 4}])",
      [](Value_ v, Graph_ g) {
        const List& list = std::get<List>(v);
        return is_x(list.at(0), g) && std::get<std::int64_t>(list.at(1)) == 4;
      }}},
    {"as_scalar_type", {"13", [](Value_ v, Graph_) { return holds(v, DType::bfloat16); }}},
    {"as_memory_format",
     {"2", [](Value_ v, Graph_) { return holds(v, MemoryFormat::channels_last); }}},
    {"as_layout", {"7", [](Value_ v, Graph_) { return holds(v, Layout::strided); }}},
    {"as_device",
     {R"({"type": "cuda", "index": 1})",
      [](Value_ v, Graph_) { return std::get<DeviceName>(v).name == "cuda:1"; }}},
    {"as_bool", {"true", [](Value_ v, Graph_) { return holds(v, true); }}},
    {"as_bools",
     {"[true, false]",
      [](Value_ v, Graph_) {
        return holds(v, std::vector<bool>{true, false});
      }}},
    {"as_sym_bool", {R"({"as_bool": true})", [](Value_ v, Graph_) { return holds(v, true); }}},
    {"as_sym_bools",
     {R"([{"as_name": "x"}, {"as_bool": true}])",
      [](Value_ v, Graph_ g) {
        const List& list = std::get<List>(v);
        return is_x(list.at(0), g) && std::get<bool>(list.at(1));
      }}},
    {"as_sym_float", {R"({"as_float": 0.5})", [](Value_ v, Graph_) { return holds(v, 0.5); }}},
    {"as_sym_floats",
     {R"([{"as_float": 0.5}, {"as_name": "x"}])",
      [](Value_ v, Graph_ g) {
        const List& list = std::get<List>(v);
        return std::get<double>(list.at(0)) == 0.5 && is_x(list.at(1), g);
      }}},
    {"as_optional_tensor",
     {R"({"as_tensor": {"name": "x"}})",
      [](Value_ v, Graph_ g) { return std::get<ValueRef>(v).id == g.inputs.at(0); }}},
    {"as_optional_tensors",
     {R"([{"as_none": true}, {"as_tensor": {"name": "x"}}])",
      [](Value_ v, Graph_ g) {
        const List& list = std::get<List>(v);
        return std::holds_alternative<NoArgument>(list.at(0)) && is_x(list.at(1), g);
      }}},
    {"as_custom_obj",
     {R"({"name": "o", "class_fqn": "__torch__.torch.classes.acme.Table"})",
      [](Value_ v, Graph_) {
        return std::get<CustomObject>(v).class_name == "__torch__.torch.classes.acme.Table";
      }}},
    {"as_operator",
     {R"("torch.ops.aten.relu.default")",
      [](Value_ v, Graph_) { return holds<std::string>(v, "torch.ops.aten.relu.default"); }}},
    {"as_complex",
     {R"({"real": 1, "imag": -2.5})",
      [](Value_ v, Graph_) { return holds(v, std::complex<double>(1, -2.5)); }}},
    {"as_nested_tensors",
     {R"([[{"name": "x"}], []])",
      [](Value_ v, Graph_ g) {
        const Lists& lists = std::get<Lists>(v);
        return is_x(std::get<List>(lists.at(0).value).at(0), g) &&
               std::get<List>(lists.at(1).value).empty() && lists[0].name.empty();
      }}},
    {"as_int_lists",
     {"[[1, 2], [3]]",
      [](Value_ v, Graph_) {
        const Lists& lists = std::get<Lists>(v);
        return holds(lists.at(0).value, std::vector<std::int64_t>{1, 2}) &&
               holds(lists.at(1).value, std::vector<std::int64_t>{3});
      }}},
    {"as_float_lists",
     {"[[0.5]]",
      [](Value_ v, Graph_) {
        return holds(std::get<Lists>(v).at(0).value, std::vector<double>{0.5});
      }}},
    {"as_string_to_argument",
     {R"({"scale": {"as_float": 0.5}, "of": {"as_tensor": {"name": "x"}}})",
      [](Value_ v, Graph_ g) {
        const Lists& entries = std::get<Lists>(v);
        return entries.at(0).name == "scale" && holds(entries[0].value, 0.5) &&
               entries.at(1).name == "of" &&
               std::get<ValueRef>(entries[1].value).id == g.inputs.at(0);
      }}},
    {"as_graph",
     {R"({"name": "body", "graph": {"inputs": [{"as_tensor": {"name": "t"}}, {"as_int": 3}],
          "outputs": [{"as_tensor": {"name": "t"}}, {"as_int": 4}, {"as_none": true}],
          "nodes": [], "tensor_values": {}}})",
      [](Value_ v, Graph_) {
        const Graph& body = *std::get<std::shared_ptr<const Graph>>(v);
        const auto& number = body.values.at(static_cast<std::size_t>(body.outputs.at(1)));
        return body.inputs.size() == 2 && body.outputs.size() == 3 &&
               body.outputs[0] == body.inputs[0] && std::get<std::int64_t>(*number.scalar) == 4;
      }}},
};

}  // namespace

TEST_SUITE("exported_kinds") {
  TEST_CASE("arguments") {
    std::vector<std::string> covered;
    for (const auto& [kind, one] : arguments) {
      CAPTURE(kind);
      const Graph graph = with_argument(fmt::format(R"({{"{}": {}}})", kind, one.json));
      CHECK(one.is_right(graph.nodes.at(0).arguments.at(1).value, graph));
      covered.push_back(kind);
    }
    std::ranges::sort(covered);
    CHECK(symprof::test::schema_kinds().at("Argument") == covered);
  }

  TEST_CASE("results of other kinds than tensors") {
    const char* kinds[] = {R"({"as_none": true})", R"({"as_int": 3})", R"({"as_bool": true})",
                           R"({"as_optional_tensor": {"as_none": true}})",
                           R"({"as_custom_obj": {"name": "o", "class_fqn": "acme.Table"}})"};
    for (const char* kind : kinds) {
      CAPTURE(kind);
      Program program = relu_program();
      program.nodes += fmt::format(
          R"(, {{"target": "torch.ops.acme.make.default", "name": "made", "metadata": {{}},
              "inputs": [], "outputs": [{}, {{"as_tensor": {{"name": "z"}}}}]}})",
          kind);
      const Graph graph = load(program);
      const Node& made = graph.nodes.at(1);
      CHECK(made.outputs.at(0) == no_value);
      CHECK(made.outputs.at(1) != no_value);
    }
  }

  TEST_CASE("an operator with effects replaces the token's wrapper") {
    Program program = relu_program();
    program.nodes += R"(, {"target": "torch.ops.higher_order.with_effects", "name": "effect",
        "metadata": {}, "inputs": [{"name": "", "arg": {"as_tensor": {"name": "x"}}},
          {"name": "", "arg": {"as_operator": "torch.ops.aten.tanh.default"}},
          {"name": "", "arg": {"as_tensor": {"name": "y"}}}],
        "outputs": [{"as_tensor": {"name": "token"}}, {"as_tensor": {"name": "z"}}]})";
    const Graph graph = load(program);
    const Node& node = graph.nodes.at(1);
    CHECK(node.op == "aten::tanh");
    CHECK(node.arguments.size() == 1);
    CHECK(graph.values.at(static_cast<std::size_t>(node.outputs.at(0))).name == "z");
  }
}
