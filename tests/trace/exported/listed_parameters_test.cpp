// Parameters that a module reads from a Python list: the export has them twice.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/exported_archive.h"
#include "trace/graph/uses.h"

namespace {

using namespace symprof;

std::string call(const std::string& op, const std::string& first, const std::string& second,
                 const std::string& output) {
  const std::string other =
      second.empty()
          ? ""
          : fmt::format(
                R"(, {{"name": "other", "arg": {{"as_tensor": {{"name": "{}"}}}}, "kind": 1}})",
                second);
  return fmt::format(
      R"(, {{"target": "torch.ops.aten.{0}", "name": "{3}",
          "inputs": [{{"name": "self", "arg": {{"as_tensor": {{"name": "{1}"}}}}, "kind": 1}}{2}],
          "outputs": [{{"as_tensor": {{"name": "{3}"}}}}], "metadata": {{}}}})",
      op, first, other, output);
}

/// relu(x), and a product with a constant created in code if `is_literal`, else with another
/// constant; and unused `parameters`.
Graph scaled(const std::vector<std::string>& parameters, bool is_literal,
             const std::string& constant_name = "lifted_tensor_0") {
  test::Program program = test::relu_program();
  const auto add_tensor = [&](const std::string& name) {
    const std::string sizes = R"({"as_int": 2}, {"as_int": 3})";
    program.tensor_values += fmt::format(
        R"(, "{}": {})", name, test::tensor_meta(7, sizes, R"({"as_int": 3}, {"as_int": 1})"));
  };
  const auto add_input = [&](const std::string& name, const std::string& spec) {
    program.inputs += fmt::format(R"(, {{"as_tensor": {{"name": "{}"}}}})", name);
    program.input_specs += ", " + spec;
    add_tensor(name);
  };
  for (const std::string& name : parameters)
    add_input(name, fmt::format(
                        R"({{"parameter": {{"arg": {{"name": "{0}"}}, "parameter_name": "{0}"}}}})",
                        name));
  add_input(
      "c", fmt::format(
               R"({{"tensor_constant": {{"arg": {{"name": "c"}}, "tensor_constant_name": "{}"}}}})",
               constant_name));
  if (is_literal) {
    program.nodes += call("lift_fresh_copy.default", "c", "", "copy");
    add_tensor("copy");
  }
  program.nodes += call("mul.Tensor", "y", is_literal ? "copy" : "c", "scaled");
  add_tensor("scaled");
  return test::load(program);
}

/// The product's other operand.
const Value& scale_of(const Graph& graph) {
  const auto product =
      std::ranges::find_if(graph.nodes, [](const Node& node) { return node.op == "aten::mul"; });
  REQUIRE(product != graph.nodes.end());
  return graph.value(trace::operand(*product, 1));
}

TEST_CASE("an unnamed constant without a producer is the unused parameter") {
  const Graph graph = scaled({"scale_0"}, false);
  CHECK(scale_of(graph).name == "scale_0");
  CHECK(std::ranges::none_of(graph.values, [](const Value& value) {
    return value.kind == ValueKind::constant;  // One tensor in PyTorch: it takes memory once.
  }));
}

TEST_CASE("other constants are unchanged") {
  CHECK(scale_of(scaled({"scale_0"}, true)).kind == ValueKind::result);  // torch.tensor(…)
  CHECK(scale_of(scaled({}, false)).kind == ValueKind::constant);        // No unused parameter.
  CHECK(scale_of(scaled({"scale_0", "scale_1"}, false)).kind ==
        ValueKind::constant);  // Ambiguous between two parameters.
  CHECK(scale_of(scaled({"scale_0"}, false, "head.table")).kind ==
        ValueKind::constant);  // An attribute has its name.
}

}  // namespace
