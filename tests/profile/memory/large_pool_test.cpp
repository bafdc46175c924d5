#include "profile/memory/large_pool.h"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <vector>

#include "profile/memory/allocator/caching_allocator.h"

namespace symprof::test::large_pool_test {
namespace {

using profile::Address;
using profile::CachingAllocator;
using profile::LargePool;
using profile::operator""_MiB;

/// The whole allocator, which has got and given back the segments.
struct Whole {
  CachingAllocator allocator{{}, profile::endless_bytes};
  std::int64_t reserved_bytes = 0;

  explicit Whole(const std::vector<std::int64_t>& segments) {
    std::vector<Address> taken;
    for (const std::int64_t bytes : segments) taken.push_back(*allocator.allocate(bytes));
    for (const Address address : taken) allocator.free(address);
    reserved_bytes = allocator.statistics().reserved_bytes.current;
  }

  /// Empty where it takes another segment.
  std::optional<Address> allocate(std::int64_t bytes) {
    const std::optional<Address> address = allocator.allocate(bytes);
    if (allocator.statistics().reserved_bytes.current > reserved_bytes) return std::nullopt;
    return address;
  }
};

}  // namespace

TEST_SUITE("large_pool") {
  TEST_CASE("the first request without room is the whole allocator's") {
    std::minstd_rand random(3);
    int refused = 0, whole_loops = 0;
    for (int loop = 0; loop < 300; ++loop) {
      CAPTURE(loop);
      std::vector<std::int64_t> segments;
      for (std::size_t count = 1 + random() % 4; count > 0; --count)
        segments.push_back((5 + static_cast<std::int64_t>(random() % 20)) * 2_MiB);
      constexpr std::size_t blocks = 400;
      LargePool pool(segments, blocks);
      Whole whole(segments);
      std::vector<std::pair<std::size_t, Address>> live;
      std::size_t block = 0;
      for (; block < blocks; ++block) {
        if (live.size() > random() % 12) {
          const std::size_t one = random() % live.size();
          pool.free(live[one].first);
          whole.allocator.free(live[one].second);
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(one));
        }
        const std::int64_t bytes =
            1_MiB +
            512 * (1 + static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 9000 : 3000)));
        const std::optional<Address> address = whole.allocate(bytes);
        REQUIRE(pool.allocate(block, bytes) == address.has_value());
        if (!address) break;
        live.emplace_back(block, *address);
      }
      (block < blocks ? refused : whole_loops) += 1;
    }
    CHECK(refused > 50);
    CHECK(whole_loops > 50);
  }

  TEST_CASE("a pool that grows has what its end lacks") {
    LargePool pool({10_MiB}, 4);
    REQUIRE(pool.allocate(0, 6_MiB));
    REQUIRE_FALSE(pool.allocate(1, 6_MiB));
    CHECK(pool.grow_for(6_MiB) == 6_MiB - (10_MiB - 6_MiB));
    REQUIRE(pool.allocate(1, 6_MiB));
    CHECK(pool.grow_for(3_MiB) == 3_MiB);  // Nothing is free at the end.
    REQUIRE(pool.allocate(2, 3_MiB));
    pool.free(1);
    pool.free(0);
    CHECK_FALSE(pool.allocate(3, 13_MiB));
    pool.free(2);
    CHECK(pool.allocate(3, (6 + 6 + 3) * 1_MiB));
  }
}

}  // namespace symprof::test::large_pool_test
