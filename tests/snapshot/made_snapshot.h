// Snapshots made by hand, for tests.
#pragma once

#include <string>

#include "snapshot/snapshot.h"

namespace symprof::snapshot {

constexpr std::int64_t mib = 1 << 20;

/// One segment of 64 MiB at address `base`, and events at offsets into it, in MiB.
class MadeSnapshot {
 public:
  static constexpr std::int64_t base = std::int64_t{1} << 40;

  MadeSnapshot() { made.traces.emplace_back(); }

  /// A stack of one line of a program.
  StackId line(std::int64_t number, const char* function = "forward") {
    const FrameId frame = made.stacks.add(Frame{.function = made.stacks.add(function),
                                                .file = made.stacks.add("/job/model.py"),
                                                .line = number});
    return made.stacks.add({&frame, 1});
  }

  void event(Action action, std::int64_t at, std::int64_t bytes, StackId stack = 0) {
    made.traces[0].push_back({.address = base + at * mib,
                              .bytes = bytes,
                              .time_us = static_cast<std::int64_t>(made.traces[0].size()),
                              .stack = stack,
                              .action = action});
  }
  void alloc(std::int64_t at, std::int64_t bytes, StackId stack = 0) {
    event(Action::alloc, at, bytes, stack);
  }
  void free(std::int64_t at, std::int64_t bytes) {
    event(Action::free_requested, at, bytes);
    event(Action::free_completed, at, bytes);
  }

  /// The segment at the end, with one block from its begin, or none.
  void end_with(std::int64_t block_bytes, std::int64_t requested_bytes) {
    Segment segment{.address = base, .bytes = 64 * mib};
    if (block_bytes > 0)
      segment.blocks.push_back({.address = base,
                                .bytes = block_bytes,
                                .requested_bytes = requested_bytes,
                                .use = BlockUse::allocated});
    segment.blocks.push_back({.address = base + block_bytes, .bytes = 64 * mib - block_bytes});
    made.segments.push_back(segment);
  }

  Snapshot made;
};

}  // namespace symprof::snapshot
