#include "profile/memory/segment_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/support/recording_builder.h"

namespace symprof::test::segment_weights_test {
namespace {

using profile::LoopOptions;
using profile::PoolWeights;
using profile::segment_weights;
using profile::SegmentWeights;
using profile::simulate_step_memory;
using profile::operator""_MiB;

/// A parameter, and results of calls that live until the step is over.
struct Step : RecordingBuilder {
  Step(std::int64_t parameter_bytes, const std::vector<std::int64_t>& results) {
    event(EventKind::allocate, storage({.bytes = parameter_bytes, .kind = StorageKind::parameter}),
          none);
    std::vector<StorageId> made;
    for (const std::int64_t bytes : results) {
      made.push_back(storage({.bytes = bytes, .saved = true}));
      event(EventKind::allocate, made.back(), call("aten::relu", {}, {}, node("layer")));
    }
    const CallId last = call("aten::relu", {}, {}, node("layer"), Phase::backward);
    for (const StorageId id : made) event(EventKind::free, id, last);
  }

  std::vector<PoolWeights> weights(const LoopOptions& loop = {}) {
    return segment_weights({&recording()}, {}, loop);
  }
};

std::int64_t sum_of(const SegmentWeights& weights, const std::vector<std::int64_t>& blocks) {
  std::int64_t sum = weights.of_model;
  for (const std::int64_t bytes : blocks) sum += weights.of(bytes);
  return sum;
}

}  // namespace

TEST_SUITE("segment_weights") {
  TEST_CASE("blocks that fill no segment weigh their share of it") {
    const std::vector<std::int64_t> blocks(6, 9_MiB);
    Step step(9_MiB, blocks);
    const std::vector<PoolWeights> weights = step.weights();
    REQUIRE(weights.size() == 2);
    CHECK(weights[0].large.of(9_MiB) == 9_MiB);
    CHECK(weights[1].large.of(9_MiB) == 10_MiB);
    // Beside the parameter there is room for one of them.
    CHECK(weights[1].large.of_model == 20_MiB - 10_MiB);
    CHECK(weights[0].large.of_model == 20_MiB - 9_MiB);
    CHECK(weights[1].large.unit_bytes == 20_MiB);
    CHECK(weights[1].large.base_bytes == 20_MiB);
    CHECK(weights[1].large.of(8_MiB) == 0);  // Nothing asks for it.
    CHECK(sum_of(weights[1].large, blocks) == 70_MiB);
    CHECK(simulate_step_memory(step.recording(), {}).peak_reserved_bytes == 80_MiB);
  }

  TEST_CASE("a smaller block that fits beside them makes them lighter") {
    Step step(20_MiB, {9_MiB, 9_MiB, 9_MiB, 2_MiB});
    const SegmentWeights large = step.weights()[1].large;
    CHECK(2 * large.of(9_MiB) + large.of(2_MiB) == 20_MiB);
    CHECK(large.of_model == 20_MiB);
  }

  TEST_CASE("pages that are expandable can be filled") {
    LoopOptions loop;
    loop.allocator.expandable_segments = true;
    const std::vector<PoolWeights> weights = Step(9_MiB, {9_MiB}).weights(loop);
    REQUIRE(weights.size() == 1);
    CHECK(weights[0].large.of(9_MiB) == 9_MiB);
    CHECK(weights[0].large.of_model == 9_MiB);
    CHECK(weights[0].large.unit_bytes == 20_MiB);
  }

  TEST_CASE("no step reserves less than its blocks weigh") {
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
      std::vector<std::int64_t> blocks(1 + random() % 12);
      for (std::int64_t& bytes : blocks)
        bytes =
            (random() % 3 == 0 ? 100 : 3000) * static_cast<std::int64_t>(1 + random() % 9) * 512;
      Step step(static_cast<std::int64_t>(1 + random() % 20) << 20, blocks);
      const std::int64_t reserved = simulate_step_memory(step.recording(), {}).peak_reserved_bytes;
      for (const PoolWeights& weights : step.weights())
        CHECK(sum_of(weights.large, blocks) + sum_of(weights.small, blocks) <= reserved);
    }
  }
}

}  // namespace symprof::test::segment_weights_test
