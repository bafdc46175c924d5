// Autograd's data-dependent formulas, and their path for usual data: the calls of
// torch/csrc/autograd/FunctionsManual.cpp and aten/src/ATen/native/ReduceOps.cpp.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "shape/step/propagate.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::backward_formulas_test {
namespace {

constexpr std::int64_t rows = 4, width = 5;

using Names = std::vector<std::string>;

/// The backward calls of an operator whose only tensor is a parameter.
Names backward_calls(const std::string& op, const std::string& overload,
                     std::initializer_list<ArgumentValue> arguments) {
  test::GraphBuilder b;
  const ValueId x = b.parameter("x", test::contiguous({rows, width}));
  const ValueId result = b.call(op, overload, arguments);
  b.graph.nodes.back().arguments.insert(b.graph.nodes.back().arguments.begin(), {"", ValueRef{x}});
  b.graph.outputs = {result};
  const Recording recording = shape::propagate(b.graph, {});
  Names names;
  for (const CallRecord& call : recording.calls)
    if (call.phase == Phase::backward)
      names.push_back(recording.ops[static_cast<std::size_t>(call.op)]);
  return names;
}

}  // namespace

TEST_SUITE("backward_formulas") {
  TEST_CASE("prod's backward checks for zeros, then divides the product by each element") {
    CHECK(backward_calls("aten::prod", "default", {}) ==
          Names{"aten::eq", "aten::nonzero", "aten::div", "aten::mul"});
    CHECK(backward_calls("aten::prod", "dim_int", {std::int64_t{1}, true}) ==
          Names{"aten::eq", "aten::sum", "aten::sum", "aten::div", "aten::mul"});
  }

  TEST_CASE("cumprod's backward does the same, with sums from the end") {
    CHECK(backward_calls("aten::cumprod", "default", {std::int64_t{1}}) ==
          Names{"aten::mul", "aten::eq", "aten::any", "aten::flip", "aten::cumsum", "aten::flip",
                "aten::div"});
  }
}

}  // namespace symprof::backward_formulas_test
