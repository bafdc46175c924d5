#include <doctest/doctest.h>

#include <tuple>

#include "tests/support/launches.h"

namespace symprof::test::rnn_launches_test {
namespace {

using namespace symprof::profile;

constexpr auto half = DType::bfloat16;

/// Six steps of three sequences, one layer of an LSTM from 5 numbers to 256.
LaunchEstimate lstm_launches(DType dtype, const DeviceSpec& device) {
  const auto of = [&](std::vector<std::int64_t> sizes) { return t(std::move(sizes), dtype); };
  return launches_of(
      "aten::_cudnn_rnn",
      {of({6, 3, 5}), list({{1024, 5}, {1024, 256}, {1024}, {1024}}), ints({4}), nothing(),
       of({1, 3, 256}), of({1, 3, 256}), ints({2}), ints({256}), ints({0}), ints({1}), ints({0}),
       ints({0}), ints({1}), ints({0}), ints({}), nothing()},
      {tensor({6, 3, 256}, dtype)}, device);
}

}  // namespace

TEST_SUITE("rnn_launches") {
  TEST_CASE("a recurrent layer: input products at once, states step by step") {
    const auto launches = lstm_launches(half, modern_device());
    REQUIRE(launches->kernels.size() == 1 + 1);
    const auto input = std::get<ProductWork>(launches->kernels[0].work);
    CHECK(std::tuple(input.m, input.n, input.k) == std::tuple(6 * 3, 4 * 256, 5));
    const auto steps = std::get<RecurrentWork>(launches->kernels[1].work);
    CHECK(std::tuple(steps.steps, steps.batch, steps.hidden, steps.gates) ==
          std::tuple(6, 3, 256, 4));
    CHECK(launches->kernels[1].time_class == TimeClass::recurrent_16bit);
    CHECK(launches->kernels[1].launches == 6 * 2);  // A product and its gates.
    CHECK_FALSE(launches->is_rough);
    CHECK(lstm_launches(DType::float32, modern_device())->kernels[1].time_class ==
          TimeClass::recurrent_tf32);
  }

  TEST_CASE("weights that autocast has cast: views with one column, and biases are no matrices") {
    constexpr std::int64_t gates = 4 * 48;
    const auto of = [&](std::vector<std::int64_t> sizes) { return t(std::move(sizes), half); };
    const auto kernels = [&](const auto& weights, std::int64_t stride, std::int64_t projection) {
      return launches_of("aten::_cudnn_rnn",
                         {of({6, 3, 1}), weights, ints({stride}), nothing(), of({1, 3, 48}),
                          of({1, 3, 48}), ints({2}), ints({48}), ints({projection}), ints({1}),
                          ints({0}), ints({0}), ints({1}), ints({0}), ints({}), nothing()},
                         {tensor({6, 3, 48}, half)}, modern_device())
          ->kernels;
    };
    // From one number: the first matrix has the shape of a bias.
    const auto biased = kernels(list({{gates, 1}, {gates, 48}, {gates, 1}, {gates, 1}}), 4, 0);
    CHECK(biased == kernels(list({{gates, 1}, {gates, 48}}), 2, 0));
    CHECK(biased.size() == 2);
    CHECK(biased == kernels(list({{gates, 1}, {gates * 48, 1}, {gates, 1}, {gates, 1}}), 4, 0));
    // The projection's products are sequential: six steps for each of two matrices.
    const auto projected =
        kernels(list({{gates, 1}, {gates, 8}, {gates, 1}, {gates, 1}, {8, 48}}), 5, 8);
    CHECK(projected.size() == 1 + 6 + 6);
  }

  TEST_CASE("without tensor cores sequential products approximate a recurrent layer's steps") {
    const auto launches = lstm_launches(DType::float32, device_with({"float32"}));
    REQUIRE(launches->kernels.size() == 1 + 6);
    for (std::size_t step = 1; step <= 6; ++step) {
      const auto work = std::get<ProductWork>(launches->kernels[step].work);
      CHECK(std::tuple(work.m, work.n, work.k) == std::tuple(3, 4 * 256, 256));
    }
    CHECK(launches->is_rough);
  }
}

}  // namespace symprof::test::rnn_launches_test
