// Arithmetic, products, convolutions, norms and attention against their formulas.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/torch/onnx_model.h"

namespace symprof::compute_test {
namespace {

using namespace symprof::testing;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_SUITE("onnx_compute") {
  TEST_CASE("element-wise operators and dtypes") {
    const at::Tensor x = reals({-7, 7}, {2});
    CHECK(run_one("g (int64[2] x) => (int64[2] y) <int64 two = {2}> { y = Div(x, two) }",
                  {longs({-7, 7})})
              .equal(longs({-3, 3})));
    CHECK(run_one(R"(g (float[2] x) => (float[2] y) <float low = {-1}, float high = {2}>
                     { y = Clip(x, low, high) })",
                  {x})
              .equal(reals({-1, 2}, {2})));
    CHECK(run_one("g (float[2] x) => (float[2] y) { y = Sum(x, x, x) }", {x}).equal(x * 3));
    CHECK(run_one("g (float[2] x) => (int64[2] y) { y = Cast <to = 7> (x) }", {x})
              .equal(longs({-7, 7})));
    CHECK(run_one("g (float[2] x) => (float[2] y) { y = HardSigmoid(x) }", {x})
              .equal(at::clamp(0.2 * x + 0.5, 0, 1)));
    CHECK(contains(error_of("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }",
                            {x, reals({1, 2, 3}, {3})}),
                   "does not broadcast"));
  }

  TEST_CASE("a known exponent becomes a number") {
    const at::Tensor y = run_one(
        "g (float[2] x) => (float[2] y) <float two = {2}> { y = Pow(x, two) }", {trainable({2})});
    CHECK(gradient_node(y) == "PowBackward0");
  }

  TEST_CASE("an exported linear layer becomes addmm") {
    const at::Tensor a = trainable({4, 3}), w = trainable({5, 3}), b = trainable({5});
    const std::string text = R"(g (float[4,3] a, float[5,3] w, float[5] b) => (float[4,5] y)
                                { y = Gemm <transB = 1> (a, w, b) })";
    CHECK(close(run_one(text, {a, w, b}), at::mm(a, w.t()) + b));
    CHECK(gradient_node(run_one(text, {a, w, b})) == "AddmmBackward0");
    CHECK(close(run_one(R"(g (float[3,4] a, float[3,5] w, float[4,1] c) => (float[4,5] y)
                           { y = Gemm <transA = 1, alpha = 0.5, beta = 2.0> (a, w, c) })",
                        {a.t(), w.t(), reals({1, 2, 3, 4}, {4, 1})}),
                0.5 * at::mm(a, w.t()) + 2 * reals({1, 2, 3, 4}, {4, 1})));
  }

  TEST_CASE("convolution: pads, groups, automatic pads, transposed") {
    const at::Tensor x = at::randn({2, 4, 9, 9}), w = at::randn({6, 2, 3, 3});
    CHECK(close(run_one(R"(g (float[2,4,9,9] x, float[6,2,3,3] w) => (float[2,6,5,5] y)
                           { y = Conv <group = 2, pads = [1, 1, 1, 1], strides = [2, 2]> (x, w) })",
                        {x, w}),
                at::conv2d(x, w, {}, 2, 1, 1, 2)));
    // 9 elements at stride 2 give 5; (5 - 1) · 2 + 3 - 9 = 2 to pad, one on each side.
    CHECK(close(run_one(R"(g (float[2,4,9,9] x, float[6,2,3,3] w) => (float[2,6,5,5] y)
      { y = Conv <group = 2, auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w) })",
                        {x, w}),
                at::conv2d(x, w, {}, 2, 1, 1, 2)));
    const at::Tensor t = at::randn({4, 3, 3, 3});
    CHECK(close(run_one(R"(g (float[2,4,9,9] x, float[4,3,3,3] w) => (float[2,3,18,18] y)
      { y = ConvTranspose <strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 1]> (x, w) })",
                        {x, t}),
                at::conv_transpose2d(x, t, {}, 2, 1, 1)));
    CHECK(contains(error_of("g (float[2,4] x, float[6,2,3,3] w) => (float[2] y) { y = Conv(x, w) }",
                            {at::randn({2, 4}), w}),
                   "rank 2 for a kernel of 2 dimensions"));
  }

  TEST_CASE("pooling") {
    const at::Tensor x = at::randn({1, 2, 6, 6});
    CHECK(close(run_one(R"(g (float[1,2,6,6] x) => (float[1,2,3,3] y)
      { y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (x) })",
                        {x}),
                at::max_pool2d(x, 3, 2, 1)));
    CHECK(close(run_one(R"(g (float[1,2,6,6] x) => (float[1,2,3,3] y)
      { y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x) })",
                        {x}),
                at::avg_pool2d(x, 2, 2)));
    CHECK(close(
        run_one("g (float[1,2,6,6] x) => (float[1,2,1,1] y) { y = GlobalAveragePool(x) }", {x}),
        x.mean({2, 3}, true)));
  }

  TEST_CASE("normalization layers") {
    const at::Tensor x = at::randn({2, 4, 3}), scale = at::randn({3}), bias = at::randn({3});
    const at::Tensor mean = x.mean({2}, true), variance = (x - mean).square().mean({2}, true);
    const at::Tensor normal = (x - mean) / (variance + 1e-5).sqrt();
    CHECK(close(run_one(R"(g (float[2,4,3] x, float[3] s, float[3] b) => (float[2,4,3] y)
                           { y = LayerNormalization(x, s, b) })",
                        {x, scale, bias}),
                normal * scale + bias));
    CHECK(close(run_one(R"(g (float[2,4,3] x, float[3] s) => (float[2,4,3] y)
                           { y = RMSNormalization(x, s) })",
                        {x, scale}),
                x / (x.square().mean({2}, true) + 1e-5).sqrt() * scale));
    const at::Tensor running = at::zeros({4}), deviation = at::ones({4});
    const auto y = run_onnx(R"(g (float[2,4,3] x, float[4] s, float[4] b, float[4] m, float[4] v)
      => (float[2,4,3] y, float[4] n, float[4] w)
      { y, n, w = BatchNormalization <training_mode = 1, momentum = 0.75> (x, s, b, m, v) })",
                            {x, at::ones({4}), at::zeros({4}), running, deviation});
    const at::Tensor channel = x.mean({0, 2}, true);
    CHECK(close(y[0], (x - channel) / ((x - channel).square().mean({0, 2}, true) + 1e-5).sqrt()));
    CHECK(close(y[1], 0.25 * channel.reshape({4})));
    CHECK(running.is_same(y[1]));
  }

  TEST_CASE("dropout is active only in the node's training mode") {
    const at::Tensor x = at::ones({1000});
    const std::string head =
        "g (float[1000] x) => (float[1000] y) <float ratio = {0.25}, bool on = {";
    const std::string tail = "}> { y = Dropout(x, ratio, on) }";
    CHECK(run_one(head + "0" + tail, {x}).equal(x));
    const at::Tensor y = run_one(head + "1" + tail, {x});
    const at::Tensor kept = y.ne(0);
    CHECK(close(y.masked_select(kept), at::full({kept.sum().item<std::int64_t>()}, 1 / 0.75)));
    CHECK(std::abs(kept.to(at::kFloat).mean().item<float>() - 0.75) < 0.1);
    CHECK(run_one("g (float[1000] x) => (float[1000] y) { y = Dropout(x) }", {x}).equal(x));
  }

  TEST_CASE("reductions: axes as input or attribute, all, or none") {
    const at::Tensor x = at::randn({2, 3, 4});
    CHECK(close(run_one(R"(g (float[2,3,4] x) => (float[3] y) <int64[2] axes = {0, -1}>
                           { y = ReduceMean <keepdims = 0> (x, axes) })",
                        {x}),
                x.mean({0, 2})));
    CHECK(close(run_one("g (float[2,3,4] x) => (float[2,1,4] y) { y = ReduceL2 <axes = [1]> (x) }",
                        {x}, 13),
                x.square().sum({1}, true).sqrt()));
    CHECK(run_one("g (float[2,3,4] x) => (float[1,1,1] y) { y = ReduceMax(x) }", {x})
              .equal(x.max().reshape({1, 1, 1})));
    CHECK(run_one("g (float[2,3,4] x) => (float[2,3,4] y) { y = ReduceSum <noop_with_empty_axes = "
                  "1> (x) }",
                  {x})
              .equal(x));
  }

  TEST_CASE("attention with heads in the last dimension, grouped, causal after past keys") {
    const at::Tensor q = at::randn({2, 5, 4 * 8}), k = at::randn({2, 5, 2 * 8}),
                     v = at::randn({2, 5, 2 * 8});
    const auto heads = [](const at::Tensor& x, std::int64_t count) {
      return x.reshape({2, 5, count, 8}).transpose(1, 2);
    };
    const at::Tensor scores =
        at::matmul(heads(q, 4), heads(k, 2).repeat_interleave(2, 1).transpose(2, 3)) /
        std::sqrt(8.0);
    const at::Tensor hidden = at::ones({5, 5}, at::kBool).triu(1);
    const at::Tensor weights = scores.masked_fill(hidden, -INFINITY).softmax(-1);
    const at::Tensor y = at::matmul(weights, heads(v, 2).repeat_interleave(2, 1));
    CHECK(
        close(run_one(R"(g (float[2,5,32] q, float[2,5,16] k, float[2,5,16] v) => (float[2,5,32] y)
      { y = Attention <q_num_heads = 4, kv_num_heads = 2, is_causal = 1> (q, k, v) })",
                      {q, k, v}),
              y.transpose(1, 2).reshape({2, 5, 32})));
    const at::Tensor one = at::randn({1, 1, 1, 8}), past = at::randn({1, 1, 3, 8});
    const auto results = run_onnx(R"(g (float[1,1,1,8] q, float[1,1,3,8] p)
      => (float[1,1,1,8] y, float[1,1,4,8] n)
      { y, n = Attention <is_causal = 1> (q, q, q, , p, p) })",
                                  {one, past});
    const at::Tensor all = at::cat({past, one}, 2);
    CHECK(close(
        results[0],
        at::matmul((at::matmul(one, all.transpose(2, 3)) / std::sqrt(8.0)).softmax(-1), all)));
  }

  TEST_CASE("resize by sizes and by scales") {
    const at::Tensor x = at::randn({1, 2, 4, 4});
    CHECK(run_one(R"(g (float[1,2,4,4] x) => (float[1,2,8,8] y) <float[4] scales = {1, 1, 2, 2}>
      { y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",
                    nearest_mode = "floor"> (x, , scales) })",
                  {x})
              .equal(x.repeat_interleave(2, 2).repeat_interleave(2, 3)));
    CHECK(
        close(run_one(R"(g (float[1,2,4,4] x) => (float[1,2,6,7] y) <int64[4] sizes = {1, 2, 6, 7}>
      { y = Resize <mode = "linear"> (x, , , sizes) })",
                      {x}),
              at::upsample_bilinear2d(x, {6, 7}, false)));
  }

  TEST_CASE("operators of optimized transformers") {
    const auto run = [](const std::string& call, const symprof::lowering::Tensors& inputs) {
      return run_one(
          "g (float[2,4] x, float[4] w) => (float[2,4] y) { y = com.microsoft." + call + " }",
          inputs);
    };
    const at::Tensor x = at::randn({2, 4}), w = at::randn({4});
    CHECK(close(run("BiasGelu(x, w)", {x, w}), at::gelu(x + w)));
    CHECK(close(run("FastGelu(x, w)", {x, w}), at::gelu(x + w, "tanh")));
    CHECK(close(run("QuickGelu(x)", {x, w}), x * at::sigmoid(1.702 * x)));
    CHECK(close(run("SkipLayerNormalization <epsilon = 0.001> (x, x, w)", {x, w}),
                at::layer_norm(x + x, {4}, w, {}, 0.001)));
    CHECK(close(run("SkipSimplifiedLayerNormalization <epsilon = 0.001> (x, x, w)", {x, w}),
                at::rms_norm(x + x, {4}, w, 0.001)));
    CHECK(close(run_one(R"(g (float[2,4] x) => (float[2,2] y)
                           { y = com.microsoft.FusedMatMul <alpha = 0.5, transB = 1> (x, x) })",
                        {x}),
                0.5 * at::mm(x, x.t())));
  }

  TEST_CASE("every operator has one lowering, under its full name") {
    const auto names = symprof::lowering::known_operators();
    CHECK(names.size() > 140);
    for (const std::string& name : names) {
      CHECK(name.find("::") != name.npos);
      CHECK(symprof::lowering::find_lowering(name) != nullptr);
    }
    CHECK(symprof::lowering::find_lowering("onnx::NoSuchThing") == nullptr);
  }
}

}  // namespace symprof::compute_test
