// Events replayed: sizes of blocks, peaks, and what goes not together.
#include "snapshot/history.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/snapshot/made_snapshot.h"

namespace symprof::snapshot {
TEST_SUITE("snapshot_history") {
  TEST_CASE("a block is rounded up, and takes what the allocator does not split off") {
    MadeSnapshot snapshot;
    snapshot.alloc(0, 1000);                // Small: 1024 bytes.
    snapshot.alloc(2, 2 * mib + 1);         // Large: rounded to 512.
    snapshot.alloc(8, 55 * mib + mib / 2);  // Half a MiB is left behind it, and is not split off.
    snapshot.free(8, 55 * mib + mib / 2);
    snapshot.free(2, 2 * mib + 1);
    snapshot.free(0, 1000);
    snapshot.end_with(0, 0);
    const History history = replay(snapshot.made, 0);
    CHECK(history.requests[0].bytes == 1024);
    CHECK(history.requests[1].bytes == 2 * mib + 512);
    CHECK(history.requests[2].bytes == 56 * mib);
    CHECK(history.allocated.bytes == 1024 + 2 * mib + 512 + 56 * mib);
    CHECK(history.allocated.event == 2);
    CHECK(history.requested.bytes == 1000 + 2 * mib + 1 + 55 * mib + mib / 2);
    CHECK(history.inferred_sizes == 0);
    CHECK(history.contradictions.all() == 0);
    CHECK(history.end.allocated == 0);
    CHECK(history.reserved.bytes == 64 * mib);
  }

  TEST_CASE("what was held before the recording") {
    MadeSnapshot snapshot;
    snapshot.free(8, 4 * mib);
    snapshot.alloc(16, mib);
    snapshot.free(16, mib);
    snapshot.end_with(3 * mib, 3 * mib - 5);
    const History history = replay(snapshot.made, 0);
    CHECK(history.start.allocated == 7 * mib);
    CHECK(history.start.requested == 7 * mib - 5);
    CHECK(history.allocated.event == no_event);
    CHECK(history.end.allocated == 3 * mib);
    CHECK(history.inferred_sizes == 1);
  }

  TEST_CASE("a block that another stream still uses is active, not allocated") {
    MadeSnapshot snapshot;
    snapshot.alloc(0, mib);
    snapshot.event(Action::free_requested, 0, mib);
    snapshot.alloc(4, mib);
    snapshot.event(Action::free_completed, 0, mib);
    snapshot.free(4, mib);
    snapshot.end_with(0, 0);
    const History history = replay(snapshot.made, 0);
    CHECK(history.allocated.bytes == mib);
    CHECK(history.active.bytes == 2 * mib);
    CHECK(history.requested.bytes == 2 * mib);
  }

  TEST_CASE("segments come and go") {
    MadeSnapshot snapshot;
    snapshot.event(Action::segment_alloc, 128, 20 * mib);
    snapshot.event(Action::segment_free, 128, 20 * mib);
    snapshot.event(Action::segment_map, 256, 2 * mib);
    snapshot.event(Action::segment_unmap, 256, 2 * mib);
    snapshot.end_with(0, 0);
    const History history = replay(snapshot.made, 0);
    CHECK(history.start.reserved == 64 * mib);
    CHECK(history.reserved.bytes == 84 * mib);
    CHECK(history.reserved.event == 0);
    CHECK(history.end.reserved == 64 * mib);
  }

  TEST_CASE("no block of an expandable segment takes more than its size") {
    MadeSnapshot snapshot;
    snapshot.event(Action::segment_map, 128, 4 * mib);
    snapshot.alloc(128, 3 * mib + mib / 2);
    snapshot.free(128, 3 * mib + mib / 2);
    snapshot.event(Action::segment_unmap, 128, 4 * mib);
    snapshot.end_with(0, 0);
    CHECK(replay(snapshot.made, 0).allocated.bytes == 3 * mib + mib / 2);
  }

  TEST_CASE("events that go not together are counted") {
    MadeSnapshot snapshot;
    snapshot.alloc(0, mib);
    snapshot.alloc(0, 2 * mib);  // Where one is held.
    snapshot.alloc(8, mib);      // Not held at the end.
    snapshot.end_with(2 * mib, 2 * mib + 1);
    const History history = replay(snapshot.made, 0);
    CHECK(history.contradictions.allocated_twice == 1);
    CHECK(history.contradictions.lost == 1);
    CHECK(history.contradictions.other_size == 1);
  }

  TEST_CASE("sums that do not fit into 64 bits") {
    MadeSnapshot snapshot;
    for (int i = 0; i < 16; ++i) snapshot.alloc(i, std::int64_t{1} << 60);
    CHECK_THROWS_AS(replay(snapshot.made, 0), Error);
  }
}

}  // namespace symprof::snapshot
