// Shapes, views, concatenation and indexing, with values small enough to check by eye.
#include <doctest/doctest.h>

#include "meta/fake/fake_mode.h"
#include "tests/support/torch/onnx_model.h"

namespace symprof::shape_test {
namespace {

using namespace symprof::testing;

const at::Tensor counted = reals({0, 1, 2, 3, 4, 5}, {2, 3});

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("onnx_shape") {
  TEST_CASE("a shape is a tensor of integers on the host, and arithmetic on it is exact") {
    const at::Tensor y = run_one(R"(g (float[2,3] x) => (float[N] y)
      <int64 last = {1}, int64[1] two = {2}, int64[1] rest = {-1}, int64[1] zero = {0}>
      { s = Shape(x)
        n = Gather(s, last)
        m = Unsqueeze(n, zero)
        d = Mul(m, two)
        t = Concat <axis = 0> (rest, d)
        f = Concat <axis = 0> (x, x)
        y = Reshape(f, t) })",
                                 {counted});
    CHECK(y.sizes() == at::IntArrayRef({2, 3 * 2}));
    const at::Tensor part =
        run_one("g (float[2,3] x) => (int64[1] y) { y = Shape <start = -1> (x) }", {counted});
    CHECK(part.equal(longs({3})));
  }

  TEST_CASE("reshape: 0 copies a size, unless allowzero, and -1 is inferred") {
    CHECK(run_one(R"(g (float[2,3] x) => (float[2,3,1] y) <int64[3] s = {0, -1, 1}>
                     { y = Reshape(x, s) })",
                  {counted})
              .sizes() == at::IntArrayRef({2, 3, 1}));
    CHECK(run_one(R"(g (float[0,3] x) => (float[0,5] y) <int64[2] s = {0, 5}>
                     { y = Reshape <allowzero = 1> (x, s) })",
                  {at::empty({0, 3})})
              .sizes() == at::IntArrayRef({0, 5}));
    CHECK(contains(error_of(R"(g (float[2,3] x) => (float[2,3,1] y) <int64[3] s = {1, 6, 0}>
                               { y = Reshape(x, s) })",
                            {counted}),
                   "copies a dimension"));
  }

  TEST_CASE("views share the storage") {
    const auto aliases = [](const at::Tensor& y) {
      return y.storage().is_alias_of(counted.storage());
    };
    CHECK(aliases(run_one("g (float[2,3] x) => (float[3,2] y) { y = Transpose(x) }", {counted})));
    CHECK(aliases(run_one("g (float[2,3] x) => (float[2,3] y) { y = Identity(x) }", {counted})));
    CHECK(aliases(run_one(R"(g (float[2,3] x) => (float[4,2,3] y) <int64[3] s = {4, 1, 3}>
                             { y = Expand(x, s) })",
                          {counted})));
    CHECK(aliases(run_one(R"(g (float[2,3] x) => (float[3] y) <int64 i = {-1}>
                             { y = Gather(x, i) })",
                          {counted})));
  }

  TEST_CASE("slice: negative bounds, steps and directions") {
    const auto slice = [](const std::string& bounds) {
      return run_one("g (float[2,3] x) => (float[A,B] y) <" + bounds +
                         "> { y = Slice(x, starts, ends, axes, steps) }",
                     {counted});
    };
    CHECK(slice("int64[1] starts = {-2}, int64[1] ends = {99}, int64[1] axes = {1}, "
                "int64[1] steps = {1}")
              .equal(counted.slice(1, 1, 3)));
    CHECK(slice("int64[1] starts = {-1}, int64[1] ends = {-99}, int64[1] axes = {-1}, "
                "int64[1] steps = {-2}")
              .equal(reals({2, 0, 5, 3}, {2, 2})));
    CHECK(slice("int64[1] starts = {2}, int64[1] ends = {0}, int64[1] axes = {1}, "
                "int64[1] steps = {-1}")
              .equal(reals({2, 1, 5, 4}, {2, 2})));
  }

  TEST_CASE("split into equal and given parts") {
    const auto parts = run_onnx(R"(g (float[2,3] x) => (float[2,2] a, float[2,1] b)
                                   { a, b = Split <axis = 1, num_outputs = 2> (x) })",
                                {counted});
    CHECK(parts[0].sizes() == at::IntArrayRef({2, 2}));
    CHECK(parts[1].sizes() == at::IntArrayRef({2, 1}));
    const auto given = run_onnx(R"(g (float[2,3] x) => (float[2,1] a, float[2,2] b)
                                   <int64[2] sizes = {1, 2}> { a, b = Split <axis = 1> (x, sizes) })",
                                {counted});
    CHECK(given[1].equal(counted.slice(1, 1, 3)));
  }

  TEST_CASE("the elements of a sequence become outputs") {
    const auto y = run_onnx(R"(g (float[2,3] x) => (float[2,1] a, float[2,1] c, float[2,2] j)
      <int64 one = {1}, int64 zero = {0}, int64 two = {2}>
      { s = SplitToSequence <axis = 1> (x, one)
        a = SequenceAt(s, zero)
        c = SequenceAt(s, two)
        t = SequenceConstruct(a, c)
        j = ConcatFromSequence <axis = 1> (t) })",
                            {counted});
    CHECK(y[1].equal(reals({2, 5}, {2, 1})));
    CHECK(y[2].equal(reals({0, 2, 3, 5}, {2, 2})));
  }

  TEST_CASE("gather: rows of a table, any axis, indices from the end") {
    const at::Tensor y =
        run_one(R"(g (float[2,3] x) => (float[2,2,2] y) <int64[2,2] i = {0, -1, 1, 2}>
                                    { y = Gather <axis = 1> (x, i) })",
                {counted});
    CHECK(y.equal(counted.index_select(1, longs({0, 2, 1, 2})).reshape({2, 2, 2})));
    at::Tensor table = counted.clone().set_requires_grad(true);
    const at::Tensor rows =
        run_one("g (float[2,3] w, int64[3] i) => (float[3,3] y) { y = Gather(w, i) }",
                {table, longs({1, 0, 1})});
    CHECK(gradient_node(rows) == "EmbeddingBackward0");
    const std::string beyond =
        "g (float[2,3] x) => (float[2,3] y) <int64[2] i = {0, 2}> { y = Gather(x, i) }";
    CHECK(error_of(beyond, {counted}).find("indices from 0 to 2 into a dimension of 2") !=
          std::string::npos);
  }

  TEST_CASE("gather and scatter by coordinates") {
    CHECK(run_one(R"(g (float[2,3] x) => (float[2] y) <int64[2,2] i = {0, 2, 1, 0}>
                     { y = GatherND(x, i) })",
                  {counted})
              .equal(reals({2, 3}, {2})));
    CHECK(run_one(R"(g (float[2,3] x) => (float[2] y) <int64[2,1] i = {2, 0}>
                     { y = GatherND <batch_dims = 1> (x, i) })",
                  {counted})
              .equal(reals({2, 3}, {2})));
    CHECK(run_one(R"(g (float[2,3] x) => (float[2,3] y) <int64[1,2] i = {1, 1}, float[1] u = {9}>
                     { y = ScatterND <reduction = "add"> (x, i, u) })",
                  {counted})
              .equal(reals({0, 1, 2, 3, 4 + 9, 5}, {2, 3})));
  }

  TEST_CASE("a host tensor that is written to moves to the device of the values") {
    const at::Tensor row = longs({1}).reshape({1, 1}), places = row.expand({1, 3});
    const symprof::meta::FakeMode mode({}, nullptr);
    const auto on_device = at::device(c10::Device(c10::kCUDA, 0)).dtype(at::kFloat);
    const at::Tensor updates = at::empty({1, 3}, on_device).requires_grad_();
    const auto check = [&](const std::string& node, const at::Tensor& indices) {
      CAPTURE(node);
      updates.mutable_grad() = at::Tensor();
      const at::Tensor y =
          run_one("g (float[2,3] x, int64[A,B] i, float[1,3] u) => (float[2,3] y) { y = " + node +
                      "(x, i, u) }",
                  {counted, indices, updates});
      CHECK(y.is_cuda());
      at::mul(y, at::empty({2, 3}, on_device)).sum().backward();
      CHECK(updates.grad().sizes() == updates.sizes());
    };
    check("ScatterElements", places);
    check("ScatterND", row);
    check(R"(ScatterND <reduction = "max"> )", row);
    const at::Tensor cached = run_one(
        R"(g (float[2,3] x, float[1,3] u) => (float[2,3] y) { y = TensorScatter <axis = 0> (x, u) })",
        {counted, updates}, 24);
    CHECK(cached.is_cuda());
  }

  TEST_CASE("pads are listed from the first dimension, begins first") {
    const at::Tensor y = run_one(R"(g (float[2,3] x) => (float[3,5] y)
                                    <int64[4] pads = {1, 0, 0, 2}, float fill = {7}>
                                    { y = Pad(x, pads, fill) })",
                                 {counted});
    CHECK(y.sizes() == at::IntArrayRef({1 + 2, 3 + 2}));
    CHECK(y[0][0].item<float>() == 7);
    CHECK(y[1][0].item<float>() == 0);
  }

  TEST_CASE("numbers from shapes") {
    CHECK(run_one(R"(g (int64 n) => (int64[N] y) <int64 from = {1}, int64 step = {2}>
                     { y = Range(from, n, step) })",
                  {at::scalar_tensor(6, at::kLong)})
              .equal(longs({1, 3, 5})));
    CHECK(run_one(R"(g (int64[2] s) => (int64[A,B] y)
                     { y = ConstantOfShape <value = int64[1] {4}> (s) })",
                  {longs({2, 2})})
              .equal(at::full({2, 2}, 4, at::kLong)));
    CHECK(run_one("g (float[2,3] x) => (float[2,3] y) { y = Trilu <upper = 0> (x) }", {counted})
              .equal(reals({0, 0, 0, 3, 4, 0}, {2, 3})));
  }

  TEST_CASE("a data-dependent shape is an error") {
    const at::Tensor no_data = at::empty({2}, at::device(at::kMeta).dtype(at::kLong));
    const std::string text = error_of(
        "g (float[2,3] x, int64[2] s) => (float[A,B] y) { y = Reshape(x, s) }", {counted, no_data});
    CHECK(contains(text, "data-dependent shape: input 1 ('s')"));
    CHECK(contains(error_of("g (bool[4] x) => (int64[1,N] y) { y = NonZero(x) }",
                            {at::empty({4}, at::device(at::kMeta).dtype(at::kBool))}),
                   "data-dependent shape"));
  }
}

}  // namespace symprof::shape_test
