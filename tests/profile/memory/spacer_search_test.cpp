#include "profile/memory/spacer_search.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <vector>

#include "profile/memory/step_memory.h"
#include "tests/support/module_step.h"

namespace symprof::test::spacer_search_test {
namespace {

using profile::find_spacers;
using profile::LargeRequests;
using profile::most_spacers;
using profile::simulate_step_memory;
using profile::Spacer;

constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

std::int64_t reserved_bytes(ModuleStep& step, std::int64_t up_front_bytes,
                            const std::vector<Spacer>& spacers) {
  profile::LoopOptions loop{.spacers = spacers};
  loop.allocator.up_front_bytes = {up_front_bytes};
  return simulate_step_memory(step.recording(), {}, {.loop = loop}).peak_reserved_bytes;
}

}  // namespace

TEST_SUITE("spacer_search") {
  TEST_CASE("what is missing is what the place that is left at the end lacks") {
    ModuleStep step;
    const LargeRequests requests(step.recording(), {}, {});
    CHECK(requests.highest_bytes() == (4 + 14) * 1_MiB);
    CHECK(requests.small_segments_bytes() == 0);
    CHECK(requests.sizes() == std::vector<std::int64_t>{4_MiB, 12_MiB, 14_MiB});
    // What begins within another module, with the same request, is no place of its own.
    CHECK(requests.places() == std::vector<std::string>{"a", "b", "c"});
    constexpr std::int64_t whole = 24_MiB;
    CHECK(requests.play({}, whole, endless).missing_bytes == 14_MiB - (whole - 12_MiB - 4_MiB));
    CHECK(requests.play({}, 30_MiB, endless).missing_bytes == 0);
    // The second block lies behind the spacer, at the segment's end.
    const LargeRequests::Placed spacer{2_MiB, 1, 2};
    CHECK(requests.play({spacer}, 18_MiB, endless).missing_bytes == 0);
    // One that is still there when the third block comes takes its place.
    step.taken(2_MiB, step.in({"d"}));
    const LargeRequests more(step.recording(), {}, {});
    CHECK(more.play({{2_MiB, 1, 3}}, 20_MiB, endless).missing_bytes > 0);
  }

  TEST_CASE("a list that misses more than it may is not played to its end") {
    ModuleStep step;
    const LargeRequests requests(step.recording(), {}, {});
    const LargeRequests::Played whole = requests.play({}, 24_MiB, endless);
    CHECK(whole.requests == 4 * 6);
    CHECK(requests.play({}, 24_MiB, 0).requests < 6);
    CHECK(requests.play({}, 24_MiB, 0).missing_bytes > 0);
  }

  TEST_CASE("spacers are found with which a segment holds what it is asked for, and no more") {
    ModuleStep step;
    const LargeRequests requests(step.recording(), {}, {});
    for (const std::int64_t bytes : {18_MiB, 20_MiB, 24_MiB}) {
      CAPTURE(bytes);
      std::ptrdiff_t most_requests = 1'000'000;
      const auto found = find_spacers(requests, bytes, most_spacers, most_requests);
      REQUIRE(found);
      CHECK(most_requests < 1'000'000);
      CHECK(found->size() == 1);
      CHECK(reserved_bytes(step, bytes, *found) == bytes);
      CHECK(reserved_bytes(step, bytes, {}) > bytes);
    }
    std::ptrdiff_t most_requests = 10'000;
    CHECK(find_spacers(requests, 30_MiB, most_spacers, most_requests) == std::vector<Spacer>{});
    const std::ptrdiff_t before = most_requests;
    CHECK_FALSE(find_spacers(requests, 16_MiB, most_spacers, most_requests));  // Less than is held.
    CHECK(most_requests == before);
    CHECK_FALSE(find_spacers(requests, 24_MiB, 0, most_requests));
    std::ptrdiff_t none_left = 0;
    CHECK_FALSE(find_spacers(requests, 24_MiB, most_spacers, none_left));
  }
}

}  // namespace symprof::test::spacer_search_test
