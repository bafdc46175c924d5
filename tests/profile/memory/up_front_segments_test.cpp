#include "profile/memory/up_front_segments.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "tests/support/recording_builder.h"

namespace symprof::test::up_front_segments_test {
namespace {

using profile::find_up_front_segments;
using profile::LargeRequests;
using profile::simulate_step_memory;
using profile::operator""_MiB;

/// A block of 12 MiB that goes when another one of 4 MiB is there, which stays: one of 14 MiB finds
/// no room where the first one was.
struct Step : RecordingBuilder {
  Step() {
    const StorageId first = taken(12_MiB);
    const StorageId second = taken(4_MiB);
    event(EventKind::free, first, call("aten::relu", {}, {}, node("layer")));
    const StorageId third = taken(14_MiB);
    const CallId last = call("aten::relu", {}, {}, node("layer"), Phase::backward);
    event(EventKind::free, second, last);
    event(EventKind::free, third, last);
  }

  StorageId taken(std::int64_t bytes) {
    const StorageId made = storage({.bytes = bytes, .saved = true});
    event(EventKind::allocate, made, call("aten::relu", {}, {}, node("layer")));
    return made;
  }

  std::int64_t reserved_bytes(const std::vector<std::int64_t>& up_front_bytes) {
    profile::LoopOptions loop;
    loop.allocator.up_front_bytes = up_front_bytes;
    return simulate_step_memory(recording(), {}, {.loop = loop}).peak_reserved_bytes;
  }
};

/// The same with blocks that are too small for segments of their own, beside a state of an
/// optimizer.
struct StepWithState : RecordingBuilder {
  StepWithState() {
    const StorageId state = storage({.bytes = 2_MiB, .kind = StorageKind::optimizer_state});
    event(EventKind::allocate, state, none);
    const StorageId first = taken(5_MiB), second = taken(3_MiB);
    event(EventKind::free, first, call("aten::relu", {}, {}, node("layer")));
    const StorageId third = taken(7_MiB);
    const CallId last = call("aten::relu", {}, {}, node("layer"), Phase::backward);
    event(EventKind::free, second, last);
    event(EventKind::free, third, last);
    call("aten::_foreach_add_", {}, {}, node("optimizer"), Phase::optimizer);
  }

  StorageId taken(std::int64_t bytes) {
    const StorageId made = storage({.bytes = bytes, .saved = true});
    event(EventKind::allocate, made, call("aten::relu", {}, {}, node("layer")));
    return made;
  }
};

}  // namespace

TEST_SUITE("up_front_segments") {
  TEST_CASE("a place before what a warm start makes is for a block that stays") {
    StepWithState step;
    const profile::LoopOptions warm{.warm_start = true};
    const LargeRequests requests(step.recording(), {}, warm);
    CHECK(requests.first_bytes() == 2_MiB);
    CHECK(requests.separators() == 1);
    CHECK(requests.highest_bytes() == (2 + 3 + 7) * 1_MiB);
    REQUIRE(requests.refusal_between({12_MiB}));
    CHECK(requests.refusal_between({12_MiB})->bytes == 7_MiB);
    CHECK_FALSE(requests.refusal_between({3_MiB, 9_MiB}));
    std::ptrdiff_t most_requests = 100'000;
    const auto spacers = profile::find_spacers(requests, 14_MiB, most_requests);
    REQUIRE(spacers);
    CHECK(spacers->size() == 1);
    const auto reserved_bytes = [&](const std::vector<std::int64_t>& spacer_bytes) {
      profile::LoopOptions loop = warm;
      loop.allocator.up_front_bytes = {14_MiB};
      loop.spacer_bytes = spacer_bytes;
      return simulate_step_memory(step.recording(), {}, {.loop = loop}).peak_reserved_bytes;
    };
    CHECK(reserved_bytes(*spacers) == 14_MiB);
    CHECK(reserved_bytes({}) > 14_MiB);
    CHECK_FALSE(profile::find_spacers(requests, 10_MiB, most_requests));  // Less than is held.
  }

  TEST_CASE("a block that finds no room in one segment does in one of its own") {
    Step step;
    const LargeRequests requests(step.recording(), {}, {});
    CHECK(requests.highest_bytes() == 18_MiB);
    CHECK(requests.small_segments_bytes() == 0);
    CHECK(requests.own_segments() == std::vector<std::int64_t>{12_MiB, 14_MiB});
    const std::optional<LargeRequests::Refusal> refusal = requests.refusal({24_MiB});
    REQUIRE(refusal);
    CHECK(refusal->at == 3);
    CHECK(refusal->bytes == 14_MiB);
    CHECK_FALSE(requests.refusal({14_MiB, 10_MiB}));
    std::ptrdiff_t most_requests = 10'000;
    const auto found = find_up_front_segments(requests, 25_MiB, most_requests);
    REQUIRE(found);
    CHECK(*found == std::vector<std::int64_t>{14_MiB, 10_MiB});
    CHECK(most_requests < 10'000);
    CHECK(step.reserved_bytes(*found) == 24_MiB);
    CHECK(step.reserved_bytes({24_MiB}) > 24_MiB);
    CHECK(step.reserved_bytes({}) > 24_MiB);
  }

  TEST_CASE("one segment is enough where it has room, and none where there is none") {
    Step step;
    const LargeRequests requests(step.recording(), {}, {});
    std::ptrdiff_t most_requests = 10'000;
    CHECK(find_up_front_segments(requests, 31_MiB, most_requests) == std::vector{30_MiB});
    const std::ptrdiff_t before = most_requests;
    CHECK_FALSE(find_up_front_segments(requests, 17_MiB, most_requests));  // Less than is held.
    CHECK(most_requests == before);
    CHECK_FALSE(find_up_front_segments(requests, 18_MiB, most_requests));
    std::ptrdiff_t none_left = 0;
    CHECK_FALSE(find_up_front_segments(requests, 24_MiB, none_left));
  }
}

}  // namespace symprof::test::up_front_segments_test
