// Calls that cannot run without storage are refused with their node and advice.
#include <doctest/doctest.h>

#include <string>
#include <vector>

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

struct Product {
  std::string op, overload;
  std::vector<std::int64_t> left, right;
};

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

  TEST_CASE("a data-dependent size in backward") {
    test::GraphBuilder b;
    const ValueId x = b.parameter("x", contiguous({4, 5}));
    const ValueId value = b.parameter("value", contiguous({}));
    const ValueId mask = b.input("mask", contiguous({4, 5}, DType::boolean));
    const ValueId filled =
        b.call("aten::masked_fill", "Tensor", {ValueRef{x}, ValueRef{mask}, ValueRef{value}});
    b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{filled}})};
    const Refusal found = refusal(b);  // The value's gradient is the sum under the mask.
    CHECK(found.where == "test: after the forward pass, for node n0 (aten::masked_fill)");
    CHECK(found.problem ==
          "aten::masked_select: its output size depends on data, and a tensor without storage has "
          "none");
  }

  TEST_CASE("a saved tensor modified by the model") {
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

  TEST_CASE("an in-place change of a tensor that only later calls save, or none") {
    test::GraphBuilder b;
    const ValueId x = b.parameter("x", contiguous({4, 5}));
    const ValueId sum = b.call("aten::add", "Scalar", {ValueRef{x}, 1.0});       // Saves nothing.
    const ValueId positive = b.call("aten::relu_", "default", {ValueRef{sum}});  // Its result.
    const ValueId exp = b.call("aten::exp", "default", {ValueRef{positive}});
    b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{exp}})};
    CHECK_NOTHROW(shape::propagate(b.graph, {}));
  }

  TEST_CASE("an in-place change of a parameter or of its view") {
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

  TEST_CASE("positions outside of their table") {
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

  TEST_CASE("sequences packed by unknown lengths") {
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
    CHECK(found.advice.find("key Meta (docs/tutorial/own_operator.md)") != found.advice.npos);
  }
  TEST_CASE("products of mixed dtypes, which CUDA refuses") {
    const std::vector<Product> products = {
        {"aten::mm", "default", {4, 5}, {5, 6}},
        {"aten::bmm", "default", {2, 4, 5}, {2, 5, 6}},
        {"aten::matmul", "default", {2, 4, 5}, {2, 5, 6}},
        {"aten::mv", "default", {4, 5}, {5}},
        {"aten::dot", "default", {5}, {5}},
        {"aten::vdot", "default", {5}, {5}},
        {"aten::inner", "default", {4, 5}, {6, 5}},
        {"aten::linear", "default", {4, 5}, {6, 5}},
        {"aten::conv1d", "default", {1, 3, 8}, {4, 3, 3}},
        {"aten::conv2d", "default", {1, 3, 8, 8}, {4, 3, 3, 3}},
        {"aten::conv3d", "default", {1, 3, 8, 8, 8}, {4, 3, 3, 3, 3}},
        {"aten::conv_transpose1d", "default", {1, 3, 8}, {3, 4, 3}},
        {"aten::conv_transpose2d", "input", {1, 3, 8, 8}, {3, 4, 3, 3}},
        {"aten::conv_transpose3d", "input", {1, 3, 8, 8, 8}, {3, 4, 3, 3, 3}},
    };
    for (const Product& product : products)
      for (const DType other : {DType::bfloat16, DType::float64}) {
        CAPTURE(product.op);
        test::GraphBuilder b;
        const ValueId x = b.input("x", contiguous(product.left, other));
        const ValueId up = b.call("aten::to", "dtype", {ValueRef{x}, DType::float32});
        const ValueId y = b.call("aten::abs", "default", {ValueRef{up}});
        const ValueId w = b.parameter("w", contiguous(product.right, other));
        b.graph.outputs = {b.call(product.op, product.overload, {ValueRef{y}, ValueRef{w}})};
        const Refusal found = refusal(b);
        CHECK(found.where == "test: node n2 (" + product.op + ")");
        CHECK(found.problem.ends_with(": float32 comes from node n0 (aten::to.dtype); " +
                                      std::string(name(other)) + " from parameter w"));
        CHECK(found.advice.find("inputs") != found.advice.npos);
        b.graph.cast_to = DType::bfloat16;
        CHECK(refusal(b).advice.find("autocast=bf16 in the place of dtype=bf16") !=
              std::string::npos);
      }
  }

  TEST_CASE("a sum of products of mixed dtypes") {
    for (const std::string op : {"aten::addmm", "aten::baddbmm", "aten::einsum"}) {
      CAPTURE(op);
      const bool is_batch = op != "aten::addmm";
      test::GraphBuilder b;
      const std::vector<std::int64_t> sizes =
          is_batch ? std::vector<std::int64_t>{2, 4, 4} : std::vector<std::int64_t>{4, 4};
      const ValueId x = b.input("x", contiguous(sizes));
      const ValueId y = b.input("y", contiguous(sizes, DType::bfloat16));
      const std::vector<ListElement> both = {ValueRef{x}, ValueRef{y}};
      if (op == "aten::einsum")
        b.graph.outputs = {b.call(op, "default", {std::string("bij,bjk->bik"), both})};
      else
        b.graph.outputs = {b.call(op, "default", {ValueRef{y}, ValueRef{y}, ValueRef{x}})};
      CHECK(refusal(b).problem.find("from input x") != std::string::npos);
    }
  }

  TEST_CASE("a missing kernel for a dtype") {
    test::GraphBuilder b;
    const ValueId x = b.input("x", contiguous({4, 4}, DType::bfloat16));
    b.graph.outputs = {b.call("aten::logdet", "default", {ValueRef{x}})};
    b.graph.cast_to = DType::bfloat16;
    const Refusal found = refusal(b);
    CHECK(found.problem == "logdet: Low precision dtypes not supported. Got BFloat16");
    CHECK(found.advice.find("shapes") == found.advice.npos);
    CHECK(found.advice.find("autocast=bf16") != found.advice.npos);
  }
}

}  // namespace symprof::refusals_test
