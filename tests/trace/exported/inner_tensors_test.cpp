// Weights that are tensor subclasses: a file reads the tensors in them by their attributes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tests/support/exported_archive.h"

namespace symprof::inner_tensors_test {
namespace {

constexpr int int8 = 2, float32 = 7;  // torch/_export/serde/schema.py: ScalarType.

std::string reading(const std::string& attribute, const std::string& output) {
  return fmt::format(
      R"(, {{"target": "torch.ops.export.access_subclass_inner_tensor.default", "name": "{1}",
          "inputs": [{{"name": "src_subclass_tensor", "arg": {{"as_tensor": {{"name": "w"}}}}}},
                     {{"name": "attr", "arg": {{"as_string": "{0}"}}}}],
          "outputs": [{{"as_tensor": {{"name": "{1}"}}}}], "metadata": {{}}}})",
      attribute, output);
}

std::string product(const std::string& with, const std::string& output) {
  return fmt::format(
      R"(, {{"target": "torch.ops.aten.mul.Tensor", "name": "{1}",
          "inputs": [{{"name": "self", "arg": {{"as_tensor": {{"name": "y"}}}}}},
                     {{"name": "other", "arg": {{"as_tensor": {{"name": "{0}"}}}}}}],
          "outputs": [{{"as_tensor": {{"name": "{1}"}}}}], "metadata": {{}}}})",
      with, output);
}

/// relu(x) and products with the tensors in the parameter layer.weight, a subclass of float32[2, 3]
/// around int8[2, 3] and a scale; the codes are read twice.
test::Program subclass_program() {
  test::Program program = test::relu_program();
  const auto add = [&](const std::string& name, int dtype, const std::string& sizes,
                       const std::string& strides) {
    program.tensor_values +=
        fmt::format(R"(, "{}": {})", name, test::tensor_meta(dtype, sizes, strides));
  };
  const std::string sizes = R"({"as_int": 2}, {"as_int": 3})";
  const std::string strides = R"({"as_int": 3}, {"as_int": 1})";
  add("w", float32, sizes, strides);
  for (const char* name : {"codes", "again"}) add(name, int8, sizes, strides);
  add("scale", float32, R"({"as_int": 2}, {"as_int": 1})", R"({"as_int": 1}, {"as_int": 1})");
  for (const char* name : {"first", "second", "third"}) add(name, float32, sizes, strides);
  program.inputs += R"(, {"as_tensor": {"name": "w"}})";
  program.input_specs +=
      R"(, {"parameter": {"arg": {"name": "w"}, "parameter_name": "layer.weight"}})";
  program.nodes += reading("qdata", "codes") + reading("scale", "scale") +
                   reading("qdata", "again") + product("codes", "first") +
                   product("scale", "second") + product("again", "third");
  return program;
}

const Value* find(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.values, name, &Value::name);
  return found == graph.values.end() ? nullptr : &*found;
}

}  // namespace

TEST_SUITE("exported_inner_tensors") {
  TEST_CASE("the tensors in a subclass are the weights, and the subclass takes no memory") {
    const Graph graph = test::load(subclass_program());
    for (const Node& node : graph.nodes) CHECK(node.op != "export::access_subclass_inner_tensor");
    REQUIRE(graph.nodes.size() == 4);
    const Value* codes = find(graph, "layer.weight.qdata");
    REQUIRE(codes != nullptr);
    CHECK(codes->kind == ValueKind::parameter);
    CHECK(codes->spec == TensorSpec{DType::int8, {2, 3}, {3, 1}, 0});
    CHECK(!codes->requires_grad);
    const Value* scale = find(graph, "layer.weight.scale");
    REQUIRE(scale != nullptr);
    CHECK(scale->spec == TensorSpec{DType::float32, {2, 1}, {1, 1}, 0});
    const Value* outer = find(graph, "layer.weight");
    REQUIRE(outer != nullptr);
    CHECK(outer->kind == ValueKind::result);
    CHECK(!outer->spec);
  }

  TEST_CASE("a tensor that is read twice is one tensor") {
    const Graph graph = test::load(subclass_program());
    const auto read_by = [&](std::size_t node) {
      return std::get<ValueRef>(graph.nodes.at(node).arguments.at(1).value).id;
    };
    CHECK(read_by(1) == read_by(3));
    CHECK(read_by(1) != read_by(2));
  }

  TEST_CASE("a subclass that other nodes read stays a weight") {
    test::Program program = subclass_program();
    program.tensor_values += fmt::format(
        R"(, "fourth": {})", test::tensor_meta(float32, R"({"as_int": 2}, {"as_int": 3})",
                                               R"({"as_int": 3}, {"as_int": 1})"));
    program.nodes += product("w", "fourth");
    const Graph graph = test::load(program);
    const Value* outer = find(graph, "layer.weight");
    REQUIRE(outer != nullptr);
    CHECK(outer->kind == ValueKind::parameter);
  }
}

}  // namespace symprof::inner_tensors_test
