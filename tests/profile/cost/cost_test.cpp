// Bytes that a call reads and writes.
#include <doctest/doctest.h>

#include "profile/profile.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {
namespace {

/// The cost of the one call in `builder`.
Cost only_cost(RecordingBuilder& builder) {
  const Profile profile = profile::evaluate(builder.recording(), {});
  REQUIRE(profile.nodes.size() == 1);
  REQUIRE(profile.nodes[0].calls.size() == 1);
  return profile.nodes[0].calls[0].cost;
}

Cost cost_of(const std::string& op, const std::vector<TestArgument>& arguments,
             const std::vector<TensorSpec>& outputs) {
  RecordingBuilder builder;
  builder.node("node");
  builder.call(op, arguments, outputs);
  return only_cost(builder);
}

constexpr std::int64_t M = 3, K = 5, N = 7;

}  // namespace

TEST_SUITE("bytes") {
  TEST_CASE("each input is read once, each output written once") {
    const Cost cost = cost_of("aten::mm", {t({M, K}, DType::bfloat16), t({K, N}, DType::bfloat16)},
                              {tensor({M, N}, DType::float32)});
    CHECK(cost.bytes_read == 2 * (M * K + K * N));
    CHECK(cost.bytes_written == 4 * (M * N));
  }

  TEST_CASE("a tensor passed twice is read once") {
    RecordingBuilder builder;
    builder.node("node");
    const TensorRecord x = builder.fresh(tensor({M, N}));
    const TensorRecord again = builder.over(x.storage, tensor({M, N}));
    builder.call_on("aten::mul", {x, again}, {builder.fresh(tensor({M, N}))});
    CHECK(only_cost(builder).bytes_read == 4 * M * N);
  }

  TEST_CASE("an expanded dimension counts once, overlapping windows at most once") {
    RecordingBuilder builder;
    builder.node("node");
    const StorageId row = builder.storage({.bytes = 4 * N});
    const TensorRecord expanded = builder.over(row, {DType::float32, {M, N}, {0, 1}, 0});
    const StorageId line = builder.storage({.bytes = 4 * 10});
    const TensorRecord windows = builder.over(line, {DType::float32, {8, 3}, {1, 1}, 0});
    builder.call_on("aten::cat", {expanded, windows}, {});
    CHECK(only_cost(builder).bytes_read == 4 * N + 4 * 10);
  }

  TEST_CASE("in-place calls read and write, overwriting calls only write") {
    RecordingBuilder builder;
    builder.node("node");
    const TensorRecord x = builder.fresh(tensor({M, N}));
    SUBCASE("add_") {
      builder.call_on("aten::add_", {x, builder.fresh(tensor({N}))}, {x});
      CHECK(only_cost(builder).bytes_read == 4 * (M * N + N));
    }
    SUBCASE("copy_") {
      builder.call_on("aten::copy_", {x, builder.fresh(tensor({M, N}, DType::bfloat16))}, {x});
      CHECK(only_cost(builder).bytes_read == 2 * M * N);
    }
    SUBCASE("zero_") {
      builder.call_on("aten::zero_", {x}, {x});
      CHECK(only_cost(builder).bytes_read == 0);
    }
    CHECK(only_cost(builder).bytes_written == 4 * M * N);
  }

  TEST_CASE("an in-place foreach call writes its first list") {
    const Cost cost = cost_of("aten::_foreach_mul_", {list({{M}, {N}}), t({})}, {});
    CHECK(cost.bytes_read == 4 * (M + N) + 4);
    CHECK(cost.bytes_written == 4 * (M + N));
  }

  TEST_CASE("the fused optimizer does not write gradients") {
    const auto p = list({{M}, {N}});
    const Cost cost = cost_of("aten::_fused_adamw_", {p, p, p, p, list({}), list({{}, {}})}, {});
    CHECK(cost.bytes_read == 4 * (4 * (M + N) + 2));
    CHECK(cost.bytes_written == 4 * 3 * (M + N));
  }

  TEST_CASE("look-ups read the indexed rows") {
    const auto indices = t({2, M}, DType::int64);
    const Cost rows = cost_of("aten::embedding", {t({1000, K}), indices}, {tensor({2, M, K})});
    CHECK(rows.bytes_read == 8 * 2 * M + 4 * 2 * M * K);
    CHECK(rows.bytes_written == 4 * 2 * M * K);
    const Cost loss = cost_of("aten::nll_loss_forward", {t({M, 1000}), t({M}, DType::int64)},
                              {tensor({}), tensor({})});
    CHECK(loss.bytes_read == 8 * M + 4 * M);
  }

  TEST_CASE("in-place scatters touch only indexed elements, others copy the rest") {
    const std::vector<TestArgument> arguments = {t({100, N}), ints({0}), t({M, N}, DType::int64),
                                                 t({M, N})};
    const Cost in_place = cost_of("aten::scatter_add_", arguments, {tensor({100, N})});
    CHECK(in_place.bytes_read == (8 + 4 + 4) * M * N);
    CHECK(in_place.bytes_written == 4 * M * N);
    const Cost copied = cost_of("aten::scatter_add", arguments, {tensor({100, N})});
    CHECK(copied.bytes_read == (8 + 4 + 4) * M * N + 4 * 100 * N);
    CHECK(copied.bytes_written == 4 * M * N + 4 * 100 * N);
  }

  TEST_CASE("views, empty tensors and host memory move nothing") {
    CHECK(cost_of("aten::transpose", {t({M, N})}, {tensor({N, M})}).bytes_read == 0);
    CHECK(cost_of("aten::empty", {ints({M})}, {tensor({M})}).bytes_written == 0);
    const Cost nothing = cost_of("aten::add", {t({0, N}), t({0, N})}, {tensor({0, N})});
    CHECK(nothing.bytes_read + nothing.bytes_written == 0);
    RecordingBuilder builder;
    builder.node("node");
    const TensorRecord host = builder.fresh(tensor({4}, DType::int64), {.on_device = false});
    builder.call_on("aten::add", {host}, {host});
    CHECK(only_cost(builder).bytes_read + only_cost(builder).bytes_written == 0);
  }

  TEST_CASE("batch norm writes its running statistics while training") {
    const auto x = t({2, M, N}), c = t({M});
    const auto written = [&](std::int64_t training) {
      return cost_of("aten::native_batch_norm", {x, c, c, c, c, ints({training})},
                     {tensor({2, M, N})})
          .bytes_written;
    };
    CHECK(written(1) == 4 * (2 * M * N) + 4 * (2 * M));
    CHECK(written(0) == 4 * (2 * M * N));
  }
}

}  // namespace symprof::test
