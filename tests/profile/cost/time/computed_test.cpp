// Kernels bound by their threads' loops instead of bytes: the rules' clocks, as bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/launches.h"

namespace symprof::test::computed_test {

using namespace symprof::profile;

constexpr std::int64_t processors = 100;
/// Bytes that DRAM moves per clock: a kernel reaches 90 % of its bandwidth.
constexpr double bytes_of_clock = 0.9 * 5e12 / 2e9;

DeviceSpec device() {
  DeviceSpec device = modern_device();
  device.multiprocessors = processors;
  device.clock_hz = 2e9, device.memory_bytes_per_second = 5e12;
  return device;
}

double clocks_of(const char* op, std::vector<TestArgument> arguments, const TensorSpec& result) {
  const auto launches = launches_of(op, arguments, {result}, device());
  const Kernel& kernel = launches->kernels.back();
  const auto* rows = std::get_if<RowWork>(&kernel.work);
  const std::int64_t bytes = rows ? rows->bytes : std::get<StreamWork>(kernel.work).bytes;
  return static_cast<double>(bytes) / bytes_of_clock;
}

doctest::Approx about(double clocks) { return doctest::Approx(clocks).epsilon(1e-4); }

TestArgument with_channels_last(std::vector<std::int64_t> sizes) {
  TestArgument image = t(sizes);
  image.tensors[0].strides = {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
  return image;
}

constexpr std::int64_t images = 8, channels = 64, side = 40;
constexpr double count = images * channels * side * side;

TEST_SUITE("computed") {
  TEST_CASE(
      "pooling loops over each result's window, its backward over the windows of a position") {
    const TestArgument image = t({images, channels, side, side});
    const TensorSpec same = tensor({images, channels, side, side});
    CHECK(clocks_of("aten::avg_pool2d", {image, ints({5}), ints({1}), ints({2})}, same) ==
          about(count * (2.4 + 0.088 * 25) / processors));
    CHECK(clocks_of("aten::avg_pool2d_backward", {image, image, ints({5, 5}), ints({1, 1})},
                    same) == about(count * (4.5 + 0.34 * 25) / processors));
    // Windows that do not overlap: each gradient comes from one.
    CHECK(clocks_of("aten::avg_pool2d_backward",
                    {t({images, channels, side / 4, side / 4}), image, ints({4}), ints({})},
                    same) == about(count * (4.5 + 0.34) / processors));
    CHECK(clocks_of("aten::max_pool2d_with_indices", {image, ints({3}), ints({1})}, same) ==
          about(count * (2.4 + 0.2 * 9) / processors));
    CHECK(clocks_of("aten::max_pool2d_with_indices_backward", {image, image, ints({3}), ints({1})},
                    same) == about(count * (2.5 + 0.17 * 9) / processors));
    CHECK(clocks_of("aten::avg_pool2d",
                    {with_channels_last({images, channels, side, side}), ints({5}), ints({1})},
                    same) == about(count * (3.9 + 0.15 * 25) / processors));
  }

  TEST_CASE("a position is resampled for all channels sequentially, a gradient for all images") {
    const TestArgument image = t({images, channels, side, side});
    const TensorSpec wide = tensor({images, channels, 2 * side, 2 * side});
    CHECK(clocks_of("aten::upsample_bilinear2d", {image}, wide) ==
          about(images * channels * 705.0));
    CHECK(clocks_of("aten::upsample_nearest2d", {image}, wide) ==
          about(4 * count * 0.63 / processors));
    const TestArgument gradient = t({images, channels, 2 * side, 2 * side});
    const TensorSpec narrow = tensor({images, channels, side, side});
    CHECK(clocks_of("aten::upsample_nearest2d_backward", {gradient}, narrow) ==
          about(images * (1540.0 + 196 * 4)));
    CHECK(clocks_of("aten::upsample_bilinear2d_backward", {gradient}, narrow) ==
          about(4 * count * 2.4 / processors));
    const DType half = DType::bfloat16;
    CHECK(clocks_of("aten::upsample_bilinear2d_backward",
                    {t({images, channels, 2 * side, 2 * side}, half)},
                    tensor({images, channels, side, side}, half)) ==
          about(4 * count * 2.65 * 2 / processors));
  }

  TEST_CASE("a sum over images and positions has a warp or a block per channel") {
    // 16 channels share a block if a warp has fewer than 256 elements: 2 x 40 x 40 / 32.
    CHECK(clocks_of("aten::sum", {t({2, channels, side, side}), ints({0, 2, 3})},
                    tensor({channels})) == about(339.0 * (2 * side * side / 32)));
    // Otherwise a block each: 20 x 40 x 40 elements by 512 threads.
    CHECK(clocks_of("aten::sum", {t({20, channels, side, side}), ints({0, 2, 3})},
                    tensor({channels})) == about(339 * std::ceil(20.0 * side * side / 512)));
    // Many blocks wait for their multiprocessor.
    CHECK(clocks_of("aten::sum", {t({images, 1024, side, side}), ints({0, 2, 3})},
                    tensor({1024})) == about(images * 1024.0 * side * side / (1.84 * processors)));
    // Contiguous elements are read in order.
    CHECK(clocks_of("aten::sum", {t({images, channels, side, side}), ints({2, 3})},
                    tensor({images, channels})) < 2 * 4 * count / bytes_of_clock);
  }

  TEST_CASE("few groups of a norm have few blocks, which loop over single elements") {
    const auto launches = launches_of(
        "aten::native_group_norm",
        {t({images, channels, side, side}), t({channels}), t({channels}), ints({images}),
         ints({channels}), ints({side * side}), ints({1})},
        {tensor({images, channels, side, side}), tensor({images, 1}), tensor({images, 1})},
        device());
    const auto bytes = static_cast<double>(std::get<RowWork>(launches->kernels[0].work).bytes);
    CHECK(bytes / bytes_of_clock == about(743.0 * channels * side * side / 512));
  }

  TEST_CASE("values of one index are added sequentially, the mean count of them") {
    const auto clocks = [](std::int64_t accumulates) {
      return clocks_of("aten::_index_put_impl_",
                       {t({169, 12}), t({2401}), t({2401, 12}), ints({accumulates})},
                       tensor({169, 12}));
    };
    // Accumulation also reads the destination.
    CHECK(clocks(1) - clocks(0) == doctest::Approx(2000.0 * 2401 / 169).epsilon(0.01));
  }

  TEST_CASE(
      "noncontiguous inputs are stacked without vector loads, a bias is added to each score") {
    TestArgument heads = t({images, 12, 200, 64});
    heads.tensors[0].strides = {200 * 12 * 64, 64, 12 * 64, 1};
    const double numbers = 3.0 * images * 12 * 200 * 64;
    TestArgument three = heads;
    three.tensors.insert(three.tensors.end(), 2, heads.tensors[0]);
    CHECK(clocks_of("aten::stack", {three}, tensor({3, images, 12, 200, 64})) ==
          about(numbers / (1.05 * processors)));
    const TestArgument x = t({images, 12, 200, 64}), bias = t({images, 12, 200, 200});
    CHECK(clocks_of("aten::_scaled_dot_product_efficient_attention", {x, x, x, bias},
                    tensor({images, 12, 200, 64})) ==
          about(images * 12 * 200.0 * 200 / (1.05 * processors)));
    const TestArgument mask = t({images, 1, 1, 200});
    CHECK(clocks_of("aten::_scaled_dot_product_efficient_attention", {x, x, x, mask},
                    tensor({images, 12, 200, 64})) ==
          about(images * 12 * 200.0 * 200 / (3.15 * processors)));
  }
}

}  // namespace symprof::test::computed_test
