// What cannot run without storage says which node it was for, and what helps.
#include <doctest/doctest.h>

#include "base/error.h"
#include "shape/step/propagate.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::refusals_test {
namespace {

struct Refusal {
  std::string where, problem, advice;
};

Refusal refusal(const test::GraphBuilder& builder) {
  try {
    shape::propagate(builder.graph, {});
  } catch (const Error& error) {
    return {error.where(), error.problem(), error.advice()};
  }
  return {};
}

}  // namespace

TEST_SUITE("refusals") {
  using test::contiguous;

  TEST_CASE("a sparse gradient") {
    test::GraphBuilder b;
    const ValueId table = b.parameter("table", contiguous({100, 8}));
    const ValueId words = b.input("words", contiguous({4, 5}, DType::int64));
    const ValueId rows =
        b.call("aten::embedding", "default",
               {ValueRef{table}, ValueRef{words}, std::int64_t{-1}, false, /*sparse=*/true});
    b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{rows}})};
    const Refusal found = refusal(b);
    CHECK(found.where == "test: after the forward pass, for node n0 (aten::embedding)");
    CHECK(found.problem == "this call makes a sparse tensor, whose size depends on data.");
    CHECK(found.advice == "Make it dense, as nn.Embedding does with sparse=False.");
  }

  TEST_CASE("a size that backward needs") {
    test::GraphBuilder b;
    const ValueId x = b.parameter("x", contiguous({4, 5}));
    const ValueId value = b.parameter("value", contiguous({}));
    const ValueId mask = b.input("mask", contiguous({4, 5}, DType::boolean));
    const ValueId filled =
        b.call("aten::masked_fill", "Tensor", {ValueRef{x}, ValueRef{mask}, ValueRef{value}});
    b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{filled}})};
    const Refusal found = refusal(b);  // The value's gradient is the sum of those under the mask.
    CHECK(found.where == "test: after the forward pass, for node n0 (aten::masked_fill)");
    CHECK(found.problem ==
          "aten::masked_select: its output size depends on data, and a tensor without storage has "
          "none");
  }

  TEST_CASE("what autograd saved and the model then changed") {
    test::GraphBuilder b;
    const ValueId x = b.parameter("x", contiguous({4, 5}));
    const ValueId exp = b.call("aten::exp", "default", {ValueRef{x}});  // Saves its result.
    const ValueId twice = b.call("aten::mul", "Scalar", {ValueRef{exp}, 2.0});
    b.call("aten::add_", "Scalar", {ValueRef{exp}, 1.0});
    b.graph.outputs = {b.call("aten::add", "Tensor", {ValueRef{twice}, ValueRef{exp}})};
    const Refusal found = refusal(b);
    CHECK(found.where == "test: after the forward pass, for node n0 (aten::exp)");
    CHECK(found.problem ==
          "float32[4, 5] was saved here for backward and changed in place later, which autograd "
          "refuses");
  }

  TEST_CASE("a change in place of what only later calls save, or nothing") {
    test::GraphBuilder b;
    const ValueId x = b.parameter("x", contiguous({4, 5}));
    const ValueId sum = b.call("aten::add", "Scalar", {ValueRef{x}, 1.0});       // Saves nothing.
    const ValueId positive = b.call("aten::relu_", "default", {ValueRef{sum}});  // Its result.
    const ValueId exp = b.call("aten::exp", "default", {ValueRef{positive}});
    b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{exp}})};
    CHECK_NOTHROW(shape::propagate(b.graph, {}));
  }

  TEST_CASE("a change in place of a parameter, or of a view of one") {
    for (const bool of_view : {false, true}) {
      test::GraphBuilder b;
      ValueId changed = b.parameter("x", contiguous({4, 5}));
      if (of_view)
        changed =
            b.call("aten::select", "int", {ValueRef{changed}, std::int64_t{0}, std::int64_t{0}});
      b.graph.outputs = {b.call("aten::add_", "Scalar", {ValueRef{changed}, 1.0})};
      const Refusal found = refusal(b);
      CHECK(found.where == (of_view ? "test: node n1 (aten::add_)" : "test: node n0 (aten::add_)"));
      CHECK(found.problem ==
            "this call changes a parameter, or a view of one, in place, which autograd refuses.");
    }
  }

  TEST_CASE("positions beyond their table") {
    for (const std::int64_t length : {64, 65}) {
      test::GraphBuilder b;
      const ValueId table = b.parameter("table", contiguous({64, 8}));
      const ValueId count = b.call("aten::arange", "start", {std::int64_t{2}, length + 2});
      const ValueId lower = b.call("aten::add", "Scalar", {ValueRef{count}, std::int64_t{-2}});
      const ValueId row =
          b.call("aten::expand", "default", {ValueRef{lower}, std::vector<std::int64_t>{3, -1}});
      b.graph.outputs = {b.call("aten::embedding", "default", {ValueRef{table}, ValueRef{row}})};
      const Refusal found = refusal(b);
      CHECK(found.where == (length == 64 ? "" : "test: node n3 (aten::embedding)"));
      CHECK(found.problem ==
            (length == 64 ? "" : "looks up 65 different positions in a table of 64"));
    }
  }

  TEST_CASE("sequences packed to their lengths") {
    test::GraphBuilder b;
    const ValueId x = b.input("x", contiguous({4, 5, 6}));
    const ValueId mask = b.input("mask", contiguous({4, 5}, DType::boolean));
    b.graph.outputs = {b.call("aten::_nested_tensor_from_mask", "default",
                              {ValueRef{x}, ValueRef{mask}, /*mask_check=*/false})};
    const Refusal found = refusal(b);
    CHECK(found.where == "test: node n0 (aten::_nested_tensor_from_mask)");
    CHECK(found.problem ==
          "aten::_nested_tensor_from_mask packs sequences to their lengths, which are data.");
    CHECK(found.advice.find("enable_nested_tensor=False") != found.advice.npos);
  }

  TEST_CASE("an operator without a shape kernel") {
    test::GraphBuilder b;
    const ValueId x = b.input("x", contiguous({4, 5}));
    b.graph.outputs = {b.call("aten::histogram", "bin_ct", {ValueRef{x}, std::int64_t{10}})};
    const Refusal found = refusal(b);
    CHECK(found.where == "test: node n0 (aten::histogram)");
    CHECK(found.problem.find("has no shape kernel, so it cannot run") != found.problem.npos);
    CHECK(found.advice.find("key Meta (docs/library.md)") != found.advice.npos);
  }
}

}  // namespace symprof::refusals_test
