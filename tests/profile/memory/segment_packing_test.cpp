#include "profile/memory/segment_packing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/rounding.h"
#include "profile/memory/allocator/allocator_settings.h"

namespace symprof::test::segment_packing_test {
namespace {

using profile::packing_weights;
using profile::operator""_MiB;
using Counts = std::map<std::int64_t, std::int64_t>;

std::int64_t sum_of(const Counts& counts, const Counts& weights) {
  std::int64_t sum = 0;
  for (const auto& [bytes, count] : counts) sum += count * weights.at(bytes);
  return sum;
}

/// The maximal weight of blocks of these sizes in `bytes`, with repetition.
std::int64_t most_in(std::int64_t bytes, Counts::const_iterator next, Counts::const_iterator end) {
  if (next == end) return 0;
  std::int64_t most = 0;
  const auto& [size, weight] = *next++;
  for (std::int64_t count = 0; count * size <= bytes; ++count)
    most = std::max(most, count * weight + most_in(bytes - count * size, next, end));
  return most;
}

/// The fewest segments of `bytes` for the blocks from `next` on, using the free parts `left`.
std::size_t fewest_segments(std::int64_t bytes, const std::vector<std::int64_t>& blocks,
                            std::size_t next, std::vector<std::int64_t>& left) {
  if (next == blocks.size()) return left.size();
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  const std::size_t there = left.size();
  for (std::size_t i = 0; i < there; ++i) {
    if (left[i] < blocks[next]) continue;
    left[i] -= blocks[next];
    fewest = std::min(fewest, fewest_segments(bytes, blocks, next + 1, left));
    left[i] += blocks[next];
  }
  left.push_back(bytes - blocks[next]);
  fewest = std::min(fewest, fewest_segments(bytes, blocks, next + 1, left));
  left.pop_back();
  return fewest;
}

}  // namespace

TEST_SUITE("segment_packing") {
  /// Two of 8 MiB and one of 3 MiB fill a segment, or one and four: 2 a + b = a + 4 b = 20 MiB.
  TEST_CASE("weights are the dual prices of the cutting-stock linear program") {
    const Counts counts{{3_MiB, 6}, {8_MiB, 4}};
    const Counts weights = packing_weights(counts, {20_MiB}, {}, {});
    CHECK(weights.at(8_MiB) == doctest::Approx(3 * 20_MiB / 7.0));
    CHECK(weights.at(3_MiB) == doctest::Approx(20_MiB / 7.0));
    CHECK(2 * weights.at(8_MiB) + weights.at(3_MiB) <= 20_MiB);
    CHECK(weights.at(8_MiB) + 4 * weights.at(3_MiB) <= 20_MiB);
  }

  /// Blocks of 9 MiB: one fills a hole, two fill a segment, so each may weigh 10. With 6 holes for
  /// 6 blocks no segment is needed; with one hole, five blocks need 2.5 segments.
  TEST_CASE("holes hold blocks at no cost") {
    const auto beyond_holes = [](std::int64_t holes) {
      const std::int64_t weight =
          packing_weights({{9_MiB, 6}}, {20_MiB}, {}, {{9_MiB, holes}}).at(9_MiB);
      return (6 - holes) * weight;
    };
    CHECK(beyond_holes(1) == 5 * 10_MiB);
    CHECK(beyond_holes(6) == 0);
    // The two 7 MiB blocks fit the two holes, so they add nothing.
    const Counts weights = packing_weights({{9_MiB, 2}, {7_MiB, 2}}, {20_MiB}, {}, {{7_MiB, 2}});
    CHECK(weights.at(9_MiB) == 10_MiB);
    CHECK(2 * weights.at(9_MiB) + 2 * weights.at(7_MiB) - 2 * weights.at(7_MiB) == 20_MiB);
  }

  TEST_CASE(
      "blocks with their own segment weigh at most their bytes, and no segment holds more weight") {
    const Counts counts{{9_MiB, 5}, {12_MiB, 1}, {64_MiB, 2}};
    const Counts weights = packing_weights(counts, {20_MiB, 30_MiB}, {12_MiB, 64_MiB}, {});
    CHECK(weights.at(64_MiB) == 64_MiB);
    CHECK(weights.at(12_MiB) <= 12_MiB);
    CHECK(2 * weights.at(9_MiB) <= 20_MiB);
    CHECK(weights.at(12_MiB) + 2 * weights.at(9_MiB) <= 30_MiB);
    // Five of 9 MiB and one of 12 MiB: a segment of 30 MiB for one and two, two for three.
    CHECK(5 * weights.at(9_MiB) + weights.at(12_MiB) > 5 * 9_MiB + 12_MiB);
  }

  TEST_CASE("no packing is too heavy, and weights do not exceed the segments needed") {
    std::mt19937 random(19);
    int heavier = 0;
    for (int i = 0; i < 300; ++i) {
      CAPTURE(i);
      const std::int64_t segment = i % 2 == 0 ? 2_MiB : 20_MiB, cell = segment / 40;
      Counts counts;
      std::vector<std::int64_t> blocks(2 + random() % 7);
      std::int64_t bytes = 0;
      for (std::int64_t& block : blocks) {
        block = round_up(static_cast<std::int64_t>(4 + random() % 17) * cell, std::int64_t{5120});
        ++counts[block];
        bytes += block;
      }
      const Counts weights = packing_weights(counts, {segment}, {}, {});
      REQUIRE(weights.size() == counts.size());
      CHECK(most_in(segment, weights.begin(), weights.end()) <= segment);
      std::vector<std::int64_t> left;
      const auto fewest = static_cast<std::int64_t>(fewest_segments(segment, blocks, 0, left));
      const std::int64_t weight = sum_of(counts, weights);
      CHECK(weight <= fewest * segment);
      // Weights equal to bytes are feasible, except for rounding to cells.
      CHECK(static_cast<double>(weight) > 0.99 * static_cast<double>(bytes));
      if (static_cast<double>(weight) > 1.05 * static_cast<double>(bytes)) ++heavier;
    }
    CHECK(heavier > 50);
  }

  TEST_CASE("the smallest blocks count") {
    const Counts weights = packing_weights({{512, 3}, {1_MiB, 1}}, {2_MiB}, {}, {});
    CHECK(weights.at(512) <= 512);
    profile::Filling filling(2_MiB);
    filling.add(512, 512);
    CHECK(filling.most() == 2_MiB);
    CHECK(filling.room_for(1_MiB, 2_MiB) == 1_MiB);
  }

  TEST_CASE("no blocks, no weights") { CHECK(packing_weights({}, {20_MiB}, {}, {}).empty()); }
}

}  // namespace symprof::test::segment_packing_test
