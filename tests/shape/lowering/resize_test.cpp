// Resize, dilated pooling, and torchvision operators, against formulas or PyTorch's own operators.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/torch/onnx_model.h"

using namespace symprof::testing;

TEST_SUITE("onnx_resample") {
  TEST_CASE("PyTorch's operator runs if it reads the same elements") {
    const at::Tensor x = trainable({1, 2, 8, 8});
    const auto resized = [&](const std::string& attributes) {
      return run_one(
          "g (float[1,2,8,8] x) => (float[1,2,6,5] y) <int64[4] s = {1, 2, 6, 5}> "
          "{ y = Resize <" +
              attributes + "> (x, , , s) }",
          {x});
    };
    const at::Tensor smooth = resized(R"(mode = "linear", antialias = 1, exclude_outside = 1)");
    CHECK(close(smooth, at::_upsample_bilinear2d_aa(x, {6, 5}, false)));
    CHECK(gradient_node(smooth) == "UpsampleBilinear2DAaBackward0");
    CHECK(gradient_node(resized(R"(mode = "linear")")) == "UpsampleBilinear2DBackward0");
    CHECK(gradient_node(resized(R"(mode = "cubic", coordinate_transformation_mode =
                                   "align_corners")")) == "UpsampleBicubic2DBackward0");
    CHECK(gradient_node(resized(R"(mode = "nearest", coordinate_transformation_mode =
                                   "asymmetric", nearest_mode = "floor")")) ==
          "UpsampleNearest2DBackward0");
    CHECK(gradient_node(resized(R"(mode = "cubic", exclude_outside = 1)")) == "SumBackward1");
  }

  TEST_CASE("resizing axis by axis matches PyTorch's single operator") {
    // PyTorch has no cubic interpolation of three dimensions.
    const at::Tensor x = at::randn({1, 2, 3, 7, 6});
    const at::Tensor y = run_one(R"(g (float[1,2,3,7,6] x) => (float[1,2,3,9,4] y)
      <int64[2] s = {9, 4}> { y = Resize <mode = "cubic", axes = [3, 4]> (x, , , s) })",
                                 {x});
    const at::Tensor planes = at::upsample_bicubic2d(x.flatten(0, 2).unsqueeze(1), {9, 4}, false);
    CHECK(close(y, planes.reshape({1, 2, 3, 9, 4})));
  }

  TEST_CASE("the nearest element rounds up, and a single factor keeps the aspect ratio") {
    constexpr int in = 4, out = 6;
    std::vector<double> wanted;
    for (int i = 0; i < out; ++i)
      wanted.push_back(std::min<double>(std::ceil(double(i) * in / out), in - 1));
    const at::Tensor y = run_one(R"(g (float[1,1,4] x) => (float[1,1,6] y) <int64[3] s = {1, 1, 6}>
      { y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",
                    nearest_mode = "ceil"> (x, , , s) })",
                                 {reals({0, 1, 2, 3}, {1, 1, in})});
    CHECK(y.equal(reals(wanted, {1, 1, out})));
    CHECK(run_one(R"(g (float[1,1,4,2] x) => (float[1,1,8,4] y) <int64[2] s = {8, 9}>
      { y = Resize <keep_aspect_ratio_policy = "not_larger", axes = [2, 3]> (x, , , s) })",
                  {at::randn({1, 1, 4, 2})})
              .sizes() == at::IntArrayRef({1, 1, 8, 4}));
  }

  TEST_CASE("before opset 11 the scales are the second input") {
    const at::Tensor x = trainable({1, 2, 3, 4});
    const at::Tensor y = run_one(R"(g (float[1,2,3,4] x) => (float[1,2,6,12] y)
      <float[4] s = {1, 1, 2, 3}> { y = Resize(x, s) })",
                                 {x}, 10);
    CHECK(y.equal(at::upsample_nearest2d(x, {6, 12})));
    CHECK(gradient_node(y) == "UpsampleNearest2DBackward0");
  }

  TEST_CASE("dilated pooling averages the elements of each window") {
    const at::Tensor x = at::randn({2, 3, 9, 8}), ones = at::ones({3, 1, 2, 3});
    const std::string head = "g (float[2,3,9,8] x) => (float[2,3,N,M] y) { y = AveragePool <";
    const std::string window = "kernel_shape = [2, 3], dilations = [2, 2], strides = [2, 1]";
    CHECK(close(run_one(head + window + "> (x) }", {x}),
                at::conv2d(x, ones, {}, {2, 1}, at::IntArrayRef{0, 0}, {2, 2}, 3) / (2 * 3)));
    const auto sums = [&](const at::Tensor& of) {
      return at::conv2d(of, ones, {}, {2, 1}, at::IntArrayRef{1, 1}, {2, 2}, 3);
    };
    CHECK(close(run_one(head + window + ", pads = [1, 1, 1, 1]> (x) }", {x}),
                sums(x) / sums(at::ones_like(x))));
  }

  TEST_CASE("bytes are padded with their minimum") {
    const at::Tensor x = at::tensor({3, 1, 2, 5}, at::kByte).reshape({1, 1, 1, 4});
    const at::Tensor y = run_one(R"(g (uint8[1,1,1,4] x) => (uint8[1,1,1,5] y)
      { y = MaxPool <kernel_shape = [1, 2], pads = [0, 2, 0, 0]> (x) })",
                                 {x});
    CHECK(y.flatten().to(at::kLong).equal(longs({0, 3, 3, 2, 5})));
  }

  TEST_CASE("unreasonable sizes are refused") {
    const auto refused = [](const std::string& node, const std::vector<std::int64_t>& sizes) {
      return error_of(
                 "g (float[A,B,C,D] x) => (float[A,B,C,D] y) <float[4] s = {1, 1, 1e30, 1}, "
                 "int64[1] i = {4611686018427387904}, int64[1] b = {2}> { y = " +
                     node + " }",
                 {at::zeros(sizes)}) != "no error";
    };
    CHECK(refused("Resize(x, , s)", {1, 1, 4, 4}));
    CHECK(refused("Col2Im(x, i, b)", {1, 2, 4}));
    CHECK(refused("AveragePool <kernel_shape = [2, 2], dilations = [4611686018427387904, 2]> (x)",
                  {1, 1, 4, 4}));
    CHECK(refused("AveragePool <kernel_shape = [2, 2], strides = [0, 1], dilations = [2, 2]> (x)",
                  {1, 1, 4, 4}));
  }

  TEST_CASE("a deformable convolution without shifts is a convolution") {
    const at::Tensor x = trainable({2, 4, 7, 6}), w = trainable({6, 2, 3, 2}), b = trainable({6});
    const at::Tensor plain = at::conv2d(x, w, b, {2, 1}, at::IntArrayRef{1, 1}, {1, 2}, 2);
    const std::int64_t height = plain.size(2), width = plain.size(3);
    const at::Tensor offset = at::zeros({2, 2 * 2 * 6, height, width});
    const at::Tensor mask = at::full({2, 2 * 6, height, width}, 0.5);
    const std::string text = R"(g (float[2,4,7,6] x, float[6,2,3,2] w, float[N,C,H,W] o, float[6] b,
                                   float[N,D,H,W] m) => (float[N,M,H,W] y)
      { y = DeformConv <kernel_shape = [3, 2], group = 2, offset_group = 2, strides = [2, 1],
                        pads = [1, 1, 1, 1], dilations = [1, 2]> (x, w, o, b, m) })";
    CHECK(close(run_one(text, {x, w, offset, b, at::ones_like(mask)}), plain));
    const at::Tensor half = run_one(text, {x, w, offset, at::zeros({6}), mask});
    CHECK(close(half, (plain - b.reshape({1, 6, 1, 1})) / 2));
    // A shift by one row reads the image one row below.
    at::Tensor down = offset.clone();
    down.view({2, 2, 6, 2, height, width}).select(3, 0).fill_(1);
    const at::Tensor moved = at::constant_pad_nd(x, {0, 0, -1, 1}, 0);
    const at::Tensor lower = at::conv2d(moved, w, b, {2, 1}, at::IntArrayRef{1, 1}, {1, 2}, 2);
    const at::Tensor y = run_one(text, {x, w, down, b, at::ones_like(mask)});
    CHECK(close(at::slice(y, 2, 1), at::slice(lower, 2, 1)));
  }

  TEST_CASE("a region of a linear ramp has the value at each bin's center") {
    const at::Tensor row = at::arange(12, at::kFloat);
    const at::Tensor image = (3 * row.unsqueeze(1) + row).reshape({1, 1, 12, 12});
    const double left = 2, top = 3, right = 8, bottom = 9;
    const at::Tensor y =
        run_one(R"(g (float[1,1,12,12] x, float[1,4] r, int64[1] b) => (float[1,1,3,2] y)
      { y = RoiAlign <output_height = 3, output_width = 2, sampling_ratio = 2> (x, r, b) })",
                {image, reals({left, top, right, bottom}, {1, 4}), longs({0})});
    std::vector<double> wanted;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j)
        wanted.push_back(3 * (top + (bottom - top) * (i + 0.5) / 3 - 0.5) +
                         (left + (right - left) * (j + 0.5) / 2 - 0.5));
    CHECK(close(y, reals(wanted, {1, 1, 3, 2})));
  }

  TEST_CASE("blocks are folded in any number of dimensions") {
    // Ones sum to the number of blocks that cover each position.
    std::vector<double> wanted;
    for (int i = 0; i < 6; ++i) wanted.push_back(std::min({i + 1, 3, 6 - i}));
    const at::Tensor y = run_one(R"(g (float[1,3,4] x) => (float[1,1,6] y)
      <int64[1] image = {6}, int64[1] block = {3}> { y = Col2Im(x, image, block) })",
                                 {at::ones({1, 3, 4})});
    CHECK(y.equal(reals(wanted, {1, 1, 6})));
  }
}
