// Owners of the peak, growth of the pools, steps and leaks.
#include "snapshot/analysis.h"

#include <doctest/doctest.h>

#include "tests/snapshot/made_snapshot.h"

namespace symprof::snapshot {
namespace {

std::string name_of(const Sites& sites, LineId line) { return text_of(sites.line(line)); }

/// Steps that make two activations and give them back; states are made in the first; from the
/// second on each leaves `leak` bytes behind.
Snapshot steps_with_leak(int steps, std::int64_t leak) {
  MadeSnapshot snapshot;
  const StackId input = snapshot.line(5, "train"), output = snapshot.line(9),
                state = snapshot.line(20, "step"), kept = snapshot.line(30, "log");
  for (int step = 0; step < steps; ++step) {
    snapshot.alloc(0, 2 * mib, input);
    snapshot.alloc(8, 3 * mib, output);
    if (step == 0) snapshot.alloc(16, mib, state);
    if (step > 0) snapshot.alloc(100 + step, leak, kept);
    snapshot.free(8, 3 * mib);
    snapshot.free(0, 2 * mib);
  }
  return std::move(snapshot.made);
}

}  // namespace

TEST_SUITE("snapshot_analysis") {
  TEST_CASE("a leak is found by its line, and what is made once is none") {
    const Snapshot snapshot = steps_with_leak(6, 4096);
    const Sites sites(snapshot);
    const DeviceAnswer answer = analyze(snapshot, sites, 0);
    REQUIRE(answer.steps.begins.size() == 6);
    CHECK(answer.steps.begins[0] == 0);
    REQUIRE(answer.steps.leaks.size() == 1);
    const Leak& leak = answer.steps.leaks.front();
    CHECK(name_of(sites, leak.line) == "model.py:30 log");
    CHECK(leak.steps == 4);  // All but the first and the last.
    CHECK(leak.bytes == 4 * 4096);
    CHECK(answer.steps.allocated[5] - answer.steps.allocated[4] == 4096);
    CHECK(answer.steps.peaks[2] == 2 * mib + 3 * mib + mib + 2 * 4096);
  }

  TEST_CASE("torch is a library wherever it lies") {
    MadeSnapshot snapshot;
    const auto frame = [&](const char* file, const char* function) {
      return snapshot.made.stacks.add(Frame{.function = snapshot.made.stacks.add(function),
                                            .file = snapshot.made.stacks.add(file),
                                            .line = 7});
    };
    const FrameId frames[] = {frame("/src/torch/nn/functional.py", "linear"),
                              frame("/src/torch/nn/modules/module.py", "_call_impl"),
                              frame("/src/job/train.py", "train")};
    snapshot.alloc(0, mib, snapshot.made.stacks.add(frames));
    snapshot.end_with(mib, mib);
    const Sites sites(snapshot.made);
    const History history = replay(snapshot.made, 0);
    CHECK(text_of(sites.line(sites.line_of(history.requests[0]))) == "train.py:7 train");
  }

  TEST_CASE("owners of the peak are all of it") {
    const Snapshot snapshot = steps_with_leak(3, 512);
    const Sites sites(snapshot);
    const DeviceAnswer answer = analyze(snapshot, sites, 0);
    std::int64_t sum = 0;
    for (const Share& share : answer.lines_at_peak) sum += share.bytes;
    CHECK(sum == answer.history.allocated.bytes);
    CHECK(name_of(sites, answer.lines_at_peak.front().site) == "model.py:9 forward");
    REQUIRE(answer.never_freed.size() == 2);
    CHECK(answer.never_freed[0].bytes == mib);
    CHECK(answer.never_freed[1].bytes == 2 * 512);
  }

  TEST_CASE("a pool that grows while as much is free") {
    MadeSnapshot snapshot;
    const StackId first = snapshot.line(1), second = snapshot.line(2);
    snapshot.event(Action::segment_alloc, 128, 20 * mib);
    snapshot.alloc(128, 5 * mib, first);
    snapshot.event(Action::segment_alloc, 256, 16 * mib);
    snapshot.alloc(256, 16 * mib, second);
    snapshot.event(Action::oom, 0, 100 * mib, second);
    Segment segment{.address = MadeSnapshot::base + 128 * mib, .bytes = 20 * mib, .pool = {0, 7}};
    segment.blocks = {{.address = segment.address,
                       .bytes = 5 * mib,
                       .requested_bytes = 5 * mib,
                       .use = BlockUse::allocated},
                      {.address = segment.address + 5 * mib, .bytes = 15 * mib}};
    Segment other{.address = MadeSnapshot::base + 256 * mib, .bytes = 16 * mib};
    other.blocks = {{.address = other.address,
                     .bytes = 16 * mib,
                     .requested_bytes = 16 * mib,
                     .use = BlockUse::allocated}};
    snapshot.made.segments = {segment, other};
    const Sites sites(snapshot.made);
    const DeviceAnswer answer = analyze(snapshot.made, sites, 0);
    CHECK(answer.fragmentation.reserved == 36 * mib);
    CHECK(answer.fragmentation.allocated == 21 * mib);
    REQUIRE(answer.fragmentation.growth.size() == 2);
    CHECK(answer.fragmentation.growth[0].bytes_beside_free == 0);
    CHECK(name_of(sites, answer.fragmentation.growth[1].line) == "model.py:2 forward");
    CHECK(answer.fragmentation.growth[1].requests_beside_free == 0);  // 15 MiB were free.
    REQUIRE(answer.out_of_memory.size() == 1);
    CHECK(answer.out_of_memory[0].usage.reserved == 36 * mib);
    REQUIRE(answer.pools.size() == 2);
    CHECK(answer.pools[0].pool == PoolId{0, 7});
    CHECK(answer.pools[0].largest_free == 15 * mib);
  }
}

}  // namespace symprof::snapshot
