// Every kind of input and output in torch.export's schema.
#include <doctest/doctest.h>
#include <fmt/format.h>

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

/// The relu program with one more entry in its signature, and in its graph where `input` says so.
Graph with_input(const std::string& kind, const std::string& spec, const std::string& input) {
  Program program = relu_program();
  program.inputs += ", " + input;
  program.tensor_values +=
      R"(, "t": )" + test::tensor_meta(7, R"({"as_int": 2})", R"({"as_int": 1})");
  program.input_specs += fmt::format(R"(, {{"{}": {}}})", kind, spec);
  return load(program);
}

const Value* find(const Graph& graph, const std::string& name) {
  for (const Value& value : graph.values)
    if (value.name == name) return &value;
  return nullptr;
}

struct InputCase {
  std::string kind, spec, input;
  std::size_t user_inputs;
  const char* name;  ///< The value's name; null if none.
  ValueKind value;
};

constexpr auto tensor_t = R"({"as_tensor": {"name": "t"}})";
const InputCase input_cases[] = {
    {"user_input", R"({"arg": {"as_tensor": {"name": "t"}}})", tensor_t, 2, "t", ValueKind::input},
    {"parameter", R"({"arg": {"name": "t"}, "parameter_name": "a.w"})", tensor_t, 1, "a.w",
     ValueKind::parameter},
    {"buffer", R"({"arg": {"name": "t"}, "buffer_name": "a.m", "persistent": false})", tensor_t, 1,
     "a.m", ValueKind::buffer},
    {"tensor_constant", R"({"arg": {"name": "t"}, "tensor_constant_name": "c"})", tensor_t, 1, "c",
     ValueKind::constant},
    {"token", R"({"arg": {"name": "t"}})", tensor_t, 1, "t", ValueKind::constant},
    {"custom_obj",
     R"({"arg": {"name": "o", "class_fqn": "acme.Table"}, "custom_obj_name": "table"})",
     R"({"as_custom_obj": {"name": "o", "class_fqn": "acme.Table"}})",
     1,
     nullptr,
     {}},
    {"constant_input",
     R"({"name": "k", "value": {"as_string": "tanh"}})",
     R"({"as_string": "tanh"})",
     1,
     nullptr,
     {}},
};

struct OutputCase {
  std::string kind, spec;
  std::size_t outputs, mutations;
  bool is_joint;
};

const OutputCase output_cases[] = {
    {"user_output", R"({"arg": {"as_tensor": {"name": "y"}}})", 1, 0, false},
    {"loss_output", R"({"arg": {"name": "y"}})", 1, 0, false},
    {"buffer_mutation", R"({"arg": {"name": "y"}, "buffer_name": "x"})", 0, 1, false},
    {"parameter_mutation", R"({"arg": {"name": "y"}, "parameter_name": "x"})", 0, 1, false},
    {"user_input_mutation", R"({"arg": {"name": "y"}, "user_input_name": "x"})", 0, 1, false},
    {"gradient_to_parameter", R"({"arg": {"name": "y"}, "parameter_name": "x"})", 1, 0, true},
    {"gradient_to_user_input", R"({"arg": {"name": "y"}, "user_input_name": "x"})", 1, 0, true},
    {"token", R"({"arg": {"name": "y"}})", 0, 0, false},
};

}  // namespace

TEST_SUITE("exported_signature") {
  TEST_CASE("inputs") {
    std::vector<std::string> covered;
    for (const InputCase& one : input_cases) {
      CAPTURE(one.kind);
      const Graph graph = with_input(one.kind, one.spec, one.input);
      CHECK(graph.inputs.size() == one.user_inputs);
      covered.push_back(one.kind);
      if (one.name == nullptr) continue;
      REQUIRE(find(graph, one.name) != nullptr);
      CHECK(find(graph, one.name)->kind == one.value);
    }
    std::ranges::sort(covered);
    CHECK(symprof::test::schema_kinds().at("InputSpec") == covered);
  }

  TEST_CASE("outputs") {
    std::vector<std::string> covered;
    for (const OutputCase& one : output_cases) {
      CAPTURE(one.kind);
      Program program = relu_program();
      program.output_specs = fmt::format(R"({{"{}": {}}})", one.kind, one.spec);
      const Graph graph = load(program);
      CHECK(graph.outputs.size() == one.outputs);
      CHECK(graph.mutations.size() == one.mutations);
      CHECK(graph.warnings.size() == (one.is_joint ? 1 : 0));
      covered.push_back(one.kind);
    }
    std::ranges::sort(covered);
    CHECK(symprof::test::schema_kinds().at("OutputSpec") == covered);
  }
}
