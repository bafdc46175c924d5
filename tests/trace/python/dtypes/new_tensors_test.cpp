#include "trace/python/dtypes/new_tensors.h"

#include <doctest/doctest.h>

#include "trace/exported/reader.h"
#include "trace/graph/uses.h"
#include "trace/torchscript/load.h"

namespace symprof::new_tensors_test {
namespace {

/// y = linear(x), which autocast has in the lower precision, and zeros on a line of their own,
/// which `joins` puts beside it.
struct Padded {
  Graph graph;
  ValueId x, y;

  explicit Padded(const std::string& line, const std::string& joins = "aten::cat",
                  const GraphTraits& traits = trace::exported_traits) {
    graph.traits = traits;
    graph.scopes = {{}};
    x = graph.add_value({.name = "x", .kind = ValueKind::input, .recorded_dtype = DType::float32});
    graph.inputs = {x};
    y = add("aten::linear", {{"input", ValueRef{x}}}, "y = self.linear(x)");
    ValueId zeros =
        add("aten::zeros", {{"size", std::int64_t{4}}, {"dtype", DType::float32}}, line);
    zeros = add("aten::reshape", {{"self", ValueRef{zeros}}}, line);
    const std::vector<ListElement> both{ValueRef{zeros}, ValueRef{y}};
    graph.outputs = {add(joins, {{"tensors", both}}, "z = torch.cat([zeros, y])")};
  }

  ValueId add(const std::string& op, std::vector<Argument> arguments, const std::string& line) {
    graph.source_lines.push_back({.file = "model.py",
                                  .function = "forward",
                                  .line = static_cast<std::int64_t>(graph.source_lines.size()) + 1,
                                  .text = line});
    const std::string name = "node" + std::to_string(graph.nodes.size());
    const ValueId made = graph.add_value({.name = name, .recorded_dtype = DType::float32});
    graph.nodes.push_back({.name = name,
                           .op = op,
                           .arguments = std::move(arguments),
                           .outputs = {made},
                           .source = static_cast<SourceId>(graph.source_lines.size()) - 1});
    return made;
  }

  DType dtype_of_zeros() {
    trace::follow_new_tensors(graph, DType::bfloat16);
    return *trace::argument_as<DType>(trace::find_argument(graph.nodes[1], "dtype"));
  }
};

/// z = y * floor(random + 0.9): stochastic depth of y, whose numbers `line` draws.
struct Dropped : Padded {
  explicit Dropped(const std::string& line, const GraphTraits& traits = trace::script_traits,
                   const std::string& rounds = "aten::floor")
      : Padded(line, "aten::cat", traits) {
    graph.nodes.resize(2);
    graph.nodes[1].op = "aten::rand";
    const ValueId moved = add("aten::add", {{"self", ValueRef{graph.nodes[1].outputs[0]}}}, line);
    const ValueId rounded = add(rounds, {{"self", ValueRef{moved}}}, line);
    graph.outputs = {add("aten::mul", {{"self", ValueRef{y}}, {"other", ValueRef{rounded}}},
                         "return y * random")};
  }
};

}  // namespace

TEST_SUITE("new_tensors") {
  TEST_CASE("stochastic depth draws in the dtype of the scaled tensor if no line is known") {
    CHECK(Dropped("y = drop_path(y)").dtype_of_zeros() == DType::bfloat16);
    CHECK(Dropped("y = drop_path(y)", trace::exported_traits).dtype_of_zeros() == DType::bfloat16);
    CHECK(Dropped("random = torch.rand(4)").dtype_of_zeros() == DType::float32);
    CHECK(Dropped("noise = noise_of(y)", trace::script_traits, "aten::sin").dtype_of_zeros() ==
          DType::float32);
  }

  TEST_CASE("the tensor that a line names may be read only after it") {
    Dropped dropped("random = torch.rand(4, dtype=hidden.dtype)");
    for (SourceLine& line : dropped.graph.source_lines) line.function = "drop_path";
    dropped.graph.source_lines[0].function = "forward";
    dropped.graph.source_lines.back().text = "return hidden * random";
    CHECK(dropped.dtype_of_zeros() == DType::bfloat16);
  }

  TEST_CASE("zeros take the dtype of the tensor that their line names") {
    CHECK(Padded("zeros = torch.zeros(4, dtype=y.dtype)", "aten::add").dtype_of_zeros() ==
          DType::bfloat16);
    CHECK(Padded("zeros = torch.zeros(4, dtype=x.dtype)").dtype_of_zeros() == DType::float32);
  }

  TEST_CASE("a dtype that the line names stays") {
    CHECK(Padded("zeros = torch.zeros(4, dtype=torch.float32)").dtype_of_zeros() == DType::float32);
  }

  TEST_CASE("zeros take the dtype of the joined tensor if no line is known") {
    for (const std::string line : {"zeros = pad(y)", "zeros = torch.zeros(4, **like(y))"}) {
      CAPTURE(line);
      CHECK(Padded(line).dtype_of_zeros() == DType::bfloat16);
      CHECK(Padded(line, "aten::stack").dtype_of_zeros() == DType::bfloat16);
      CHECK(Padded(line, "aten::add").dtype_of_zeros() == DType::float32);
    }
  }

  TEST_CASE("a trace also records the default dtype: its line has to leave it open") {
    Padded unsaid("zeros = pad(y)", "aten::cat", trace::script_traits);
    CHECK(unsaid.dtype_of_zeros() == DType::float32);
    REQUIRE(unsaid.graph.warnings.size() == 1);
    CHECK(unsaid.graph.warnings[0].starts_with("under autocast 1 new tensor (first node1) is"));
    Padded said("zeros = torch.zeros(4)", "aten::cat", trace::script_traits);
    CHECK(said.dtype_of_zeros() == DType::float32);
    CHECK(said.graph.warnings.empty());
    CHECK(Padded("zeros = torch.zeros(4)", "aten::cat", trace::script_traits).dtype_of_zeros() ==
          DType::float32);
    CHECK(Padded("zeros = pad(y)", "aten::cat", trace::script_traits).dtype_of_zeros() ==
          DType::float32);
    CHECK(Padded("zeros = torch.zeros(4, **like(y))", "aten::cat", trace::script_traits)
              .dtype_of_zeros() == DType::bfloat16);
  }
}

}  // namespace symprof::new_tensors_test
