#include "profile/memory/segment_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "profile/memory/step_memory.h"
#include "tests/support/recording_builder.h"

namespace symprof::test::segment_weights_test {
namespace {

using profile::LoopOptions;
using profile::PoolWeights;
using profile::segment_weights;
using profile::SegmentWeights;
using profile::simulate_step_memory;
using profile::operator""_MiB;

/// Parameters, call results that live until the end of backward, and optimizer states.
struct Step : RecordingBuilder {
  Step(const std::vector<std::int64_t>& parameters, const std::vector<std::int64_t>& results,
       const std::vector<std::int64_t>& states = {}) {
    for (const std::int64_t bytes : parameters) add(bytes, StorageKind::parameter);
    for (const std::int64_t bytes : states) add(bytes, StorageKind::optimizer_state);
    std::vector<StorageId> made;
    for (const std::int64_t bytes : results) {
      made.push_back(storage({.bytes = bytes, .saved = true}));
      event(EventKind::allocate, made.back(), call("aten::relu", {}, {}, node("layer")));
    }
    const CallId last = call("aten::relu", {}, {}, node("layer"), Phase::backward);
    for (const StorageId id : made) event(EventKind::free, id, last);
    if (!states.empty()) call("aten::add_", {}, {}, node("optimizer"), Phase::optimizer);
  }

  void add(std::int64_t bytes, StorageKind kind) {
    event(EventKind::allocate, storage({.bytes = bytes, .kind = kind}), none);
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
  TEST_CASE("blocks that cannot fill a segment weigh their share of it") {
    const std::vector<std::int64_t> blocks(6, 9_MiB);
    Step step({9_MiB}, blocks);
    const std::vector<PoolWeights> weights = step.weights();
    REQUIRE(weights.size() == 3);
    CHECK(weights[0].large.of(9_MiB) == 9_MiB);
    CHECK(weights[1].large.of(9_MiB) == 10_MiB);
    // One of them fits beside the parameter.
    CHECK(weights[1].large.of_model == 20_MiB - 10_MiB);
    CHECK(weights[0].large.of_model == 20_MiB - 9_MiB);
    CHECK(weights[1].large.unit_bytes == 20_MiB);
    CHECK(weights[1].large.base_bytes == 20_MiB);
    CHECK(weights[1].large.of(8_MiB) == 0);  // Never requested.
    CHECK(sum_of(weights[1].large, blocks) == 70_MiB);
    CHECK(sum_of(weights[2].large, blocks) == 70_MiB);
    CHECK(simulate_step_memory(step.recording(), {}).peak_reserved_bytes == 80_MiB);
  }

  TEST_CASE("in a segment reserved up front, large blocks weigh their bytes") {
    const std::vector<std::int64_t> blocks(6, 9_MiB);
    Step step({9_MiB, 65536}, blocks, {});
    const std::vector<PoolWeights> weights = segment_weights({&step.recording()}, {}, {}, true);
    for (const PoolWeights& one : weights) {
      CHECK(one.large == weights[0].large);
      CHECK(sum_of(one.large, blocks) == 63_MiB);
      CHECK(one.large.base_bytes == 0);
      CHECK(one.large.unit_bytes == 2_MiB);
      CHECK(one.small.base_bytes == 2_MiB);  // The small parameter's.
    }
    LoopOptions loop;
    loop.allocator.up_front_bytes = {64_MiB};
    CHECK(simulate_step_memory(step.recording(), {}, {.loop = loop}).peak_reserved_bytes ==
          64_MiB + 2_MiB);
    loop.allocator.up_front_bytes = {62_MiB};
    CHECK(simulate_step_memory(step.recording(), {}, {.loop = loop}).peak_reserved_bytes > 66_MiB);
  }

  TEST_CASE("a smaller block that fits beside them reduces their weight") {
    Step step({20_MiB}, {9_MiB, 9_MiB, 9_MiB, 2_MiB});
    const SegmentWeights large = step.weights()[1].large;
    CHECK(2 * large.of(9_MiB) + large.of(2_MiB) == 20_MiB);
    CHECK(large.of_model == 20_MiB);
  }

  TEST_CASE("expandable segments can be filled") {
    LoopOptions loop;
    loop.allocator.expandable_segments = true;
    const std::vector<PoolWeights> weights = Step({9_MiB}, {9_MiB}).weights(loop);
    REQUIRE(weights.size() == 1);
    CHECK(weights[0].large.of(9_MiB) == 9_MiB);
    CHECK(weights[0].large.of_model == 9_MiB);
    CHECK(weights[0].large.unit_bytes == 20_MiB);
  }

  TEST_CASE("a block that fills a hole of the model's segments weighs as elsewhere") {
    const std::vector<std::int64_t> blocks(3, 9_MiB);
    Step step({8_MiB, 3_MiB}, blocks);
    for (const PoolWeights& weights : step.weights())
      CHECK(sum_of(weights.large, blocks) <= 2 * 20_MiB);
    CHECK(step.weights()[1].large.of_model == 20_MiB - 10_MiB);
    CHECK(simulate_step_memory(step.recording(), {}).peak_reserved_bytes == 2 * 20_MiB);
  }

  TEST_CASE("persistent blocks may share a segment") {
    const SegmentWeights large =
        Step({}, {30_MiB, 9_MiB, 9_MiB, 9_MiB}, {12_MiB}).weights()[2].large;
    CHECK(large.of(12_MiB) > 0);
    CHECK(large.of(12_MiB) + 2 * large.of(9_MiB) <= 30_MiB);
  }

  /// Of 8 and of 3 MiB, two and one or one and four fill a segment: segment_packing_test.cpp.
  TEST_CASE("weights are maximal at the peak of the pool") {
    std::vector<std::int64_t> blocks(4, 8_MiB);
    blocks.insert(blocks.end(), 6, 3_MiB);
    Step step({20_MiB}, blocks);
    CHECK(sum_of(step.weights()[1].large, blocks) < 20_MiB + 50_MiB + 1_MiB);
    CHECK(sum_of(step.weights()[2].large, blocks) > 20_MiB + 51_MiB);
    CHECK(simulate_step_memory(step.recording(), {}).peak_reserved_bytes >= 20_MiB + 60_MiB);
  }

  TEST_CASE("no step reserves less than its blocks' weight") {
    std::mt19937 random(3);
    const auto some = [&](std::size_t least, std::size_t most) {
      std::vector<std::int64_t> blocks(least + random() % (most - least + 1));
      for (std::int64_t& bytes : blocks)
        bytes =
            (random() % 3 == 0 ? 100 : 3000) * static_cast<std::int64_t>(1 + random() % 9) * 512;
      return blocks;
    };
    for (int i = 0; i < 400; ++i) {
      CAPTURE(i);
      std::vector<std::int64_t> blocks = some(1, 12), states = some(0, 3);
      Step step(some(1, 4), blocks, states);
      const std::int64_t reserved = simulate_step_memory(step.recording(), {}).peak_reserved_bytes;
      blocks.insert(blocks.end(), states.begin(), states.end());
      for (const PoolWeights& weights : step.weights())
        CHECK(sum_of(weights.large, blocks) + sum_of(weights.small, blocks) <= reserved);
    }
  }
}

}  // namespace symprof::test::segment_weights_test
