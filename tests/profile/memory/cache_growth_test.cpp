// A key-value cache over the passes of a loop.
#include "profile/memory/cache_growth.h"

#include <doctest/doctest.h>

#include "profile/memory/step_memory.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {
namespace {

using profile::CacheGrowth;
using profile::simulate_step_memory;
using profile::operator""_MiB;

/// Keys that are a block of 4 MiB before the step, and one of 6 MiB with the step's tokens.
struct CachedStep : RecordingBuilder {
  NodeId layer = node("layer");
  StorageId before, after, step;

  explicit CachedStep(std::int64_t bytes_before = 4_MiB, std::int64_t bytes_of_step = 2_MiB) {
    before = storage({.bytes = bytes_before, .kind = StorageKind::kv_cache});
    step = storage({.bytes = bytes_of_step});
    after = storage({.bytes = bytes_before + bytes_of_step, .kind = StorageKind::kv_cache});
    recording().kv_cache = {.sequences = 1, .tokens = 2, .added_tokens = 1};
    event(EventKind::allocate, before, none);
    const CallId key = call("aten::relu", {}, {}, layer);
    event(EventKind::allocate, step, key);
    const CallId joined =
        call_on("aten::cat", {{none, before}, {none, step}}, {{none, after}}, layer);
    at(after).allocated_by = joined;
    event(EventKind::allocate, after, joined);
    event(EventKind::free, before, joined);
    event(EventKind::free, step, joined);
  }
};

}  // namespace

TEST_SUITE("cache_growth") {
  TEST_CASE("each pass starts with the previous pass' cache") {
    CachedStep step;
    const CacheGrowth growth(step.recording());
    CHECK(growth.pairs().size() == 1);
    for (int left = 0; left < 4; ++left)
      CHECK(growth.bytes(step.before, left) == growth.bytes(step.after, left + 1));
    CHECK(growth.bytes(step.after, 0) == 6_MiB);
    CHECK(growth.bytes(step.before, 0) == 4_MiB);
    CHECK(growth.bytes(step.before, 1) == 2_MiB);
    CHECK(growth.bytes(step.before, 9) == 0);
    CHECK(growth.bytes(step.step, 3) == 2_MiB);
  }

  TEST_CASE("old and new keys coexist, and after the loop the new ones are held") {
    CachedStep step;
    const StepMemory memory = simulate_step_memory(step.recording(), {});
    CHECK(memory.peak_allocated_bytes == 4_MiB + 2_MiB + 6_MiB);
    CHECK(memory.at_peak[MemoryCategory::kv_cache] == 4_MiB + 6_MiB);
    CHECK(memory.timeline.back().held.total() == 6_MiB);
  }
}

}  // namespace symprof::test
