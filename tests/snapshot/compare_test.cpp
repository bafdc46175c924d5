// Two snapshots of one program before and after a change.
#include "snapshot/compare.h"

#include <doctest/doctest.h>

#include "tests/snapshot/made_snapshot.h"

namespace symprof::snapshot {
namespace {

/// Blocks of some lines, all held at the end.
Snapshot lines_with(const std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>>& lines) {
  MadeSnapshot snapshot;
  std::int64_t at = 0;
  for (const auto& [line, sizes] : lines) {
    const StackId stack = snapshot.line(line);
    for (const std::int64_t size : sizes) snapshot.alloc(at += 64, size * mib, stack);
  }
  return std::move(snapshot.made);
}

Comparison compare_snapshots(const Snapshot& before, const Snapshot& after) {
  const History one = replay(before, 0), other = replay(after, 0);
  const Sites sites(before), other_sites(after);
  const Comparison comparison = compare({one, sites}, {other, other_sites});
  std::int64_t sum = 0;
  for (const SiteChange& change : comparison.lines) {
    CHECK(change.bytes() == change.added_bytes - change.removed_bytes + change.resized_bytes);
    sum += change.bytes();
  }
  CHECK(sum == other.allocated.bytes - one.allocated.bytes);
  return comparison;
}

}  // namespace

TEST_SUITE("snapshot_compare") {
  TEST_CASE("lines that only moved are no change, the new one is first") {
    const Comparison comparison =
        compare_snapshots(lines_with({{10, {4, 4}}, {20, {8}}, {30, {2}}}),
                          lines_with({{10, {4, 4}}, {12, {16}}, {23, {8}}, {33, {2}}}));
    const SiteChange& first = comparison.lines.front();
    CHECK(first.after.name == "model.py:12 forward");
    CHECK(first.added_bytes == 16 * mib);
    for (std::size_t i = 1; i < comparison.lines.size(); ++i)
      CHECK(comparison.lines[i].bytes() == 0);
  }

  TEST_CASE("removed blocks, and resized ones") {
    const Comparison comparison = compare_snapshots(lines_with({{10, {4, 4, 4}}, {20, {8, 3}}}),
                                                    lines_with({{10, {4}}, {20, {9, 3}}}));
    CHECK(comparison.lines[0].removed_blocks == 2);
    CHECK(comparison.lines[0].removed_bytes == 8 * mib);
    CHECK(comparison.lines[1].resized_bytes == mib);
    CHECK(comparison.lines[1].resized_blocks == 1);
  }

  TEST_CASE("where the peak grew, what grew is first") {
    const Comparison comparison = compare_snapshots(lines_with({{10, {32}}, {20, {8}}}),
                                                    lines_with({{10, {2}}, {20, {8}}, {25, {48}}}));
    CHECK(comparison.lines[0].after.name == "model.py:25 forward");
    CHECK(comparison.lines[1].bytes() == -30 * mib);
    CHECK(comparison.lines[2].bytes() == 0);
    const Comparison grown_less = compare_snapshots(lines_with({{10, {32}}, {20, {8}}}),
                                                    lines_with({{10, {2}}, {20, {38, 8, 1}}}));
    CHECK(grown_less.lines[0].after.name == "model.py:20 forward");
  }

  TEST_CASE("a snapshot beside itself") {
    const Snapshot snapshot = lines_with({{10, {4, 4, 4}}, {20, {8, 3}}});
    for (const SiteChange& change : compare_snapshots(snapshot, snapshot).lines) {
      CHECK(change.bytes() == 0);
      CHECK(change.added_blocks + change.removed_blocks + change.resized_blocks == 0);
    }
  }
}

}  // namespace symprof::snapshot
