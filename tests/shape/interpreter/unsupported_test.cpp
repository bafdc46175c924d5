#include "shape/interpreter/unsupported.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof {
namespace {

std::string problem_of(const Graph& graph) {
  try {
    shape::check_operators(graph);
  } catch (const Error& error) {
    return error.problem();
  }
  return {};
}

}  // namespace
}  // namespace symprof

TEST_SUITE("unsupported") {
  using namespace symprof;
  using test::contiguous;
  using test::GraphBuilder;

  TEST_CASE("a graph of known operators passes") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({2, 3}));
    b.call("aten::relu", "default", {ValueRef{x}});
    b.call("onnx::Relu", "", {ValueRef{x}});
    b.call("builtin::floordiv", "", {std::int64_t{7}, std::int64_t{2}});
    b.call("aten::_assert_scalar", "default", {true, std::string("held")});
    CHECK(problem_of(b.graph).empty());
  }

  TEST_CASE("every operator without a rule is listed, with its count and first node") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({2, 3}));
    b.call("com.acme::Swizzle", "", {ValueRef{x}});
    b.call("aten::relu", "default", {ValueRef{x}});
    b.call("aten::add", "Elsewhere", {ValueRef{x}});
    b.call("com.acme::Swizzle", "", {ValueRef{x}});
    b.call("builtin::no_such", "", {std::int64_t{1}});
    CHECK(problem_of(b.graph) ==
          "3 operators have no rule: com.acme::Swizzle (2 nodes, first n0), "
          "aten::add.Elsewhere (node n2), builtin::no_such (node n4).");
  }

  TEST_CASE("nested graphs are searched") {
    GraphBuilder body;
    body.call("com.acme::Swizzle", "", {});
    GraphBuilder b;
    b.call("aten::relu", "default", {std::make_shared<const Graph>(body.graph)});
    CHECK(problem_of(b.graph) == "1 operator has no rule: com.acme::Swizzle (node n0).");
  }
}
