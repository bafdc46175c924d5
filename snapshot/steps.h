// Finds the steps of a program in its requests, and the blocks that steps leave allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "snapshot/history.h"
#include "snapshot/sites.h"

namespace symprof::snapshot {

/// Blocks requested by one line in several steps and never freed.
struct Leak {
  LineId line = 0;
  std::int64_t bytes = 0, blocks = 0;
  std::int64_t steps = 0;  ///< The number of steps that requested them.
  std::int64_t bytes_per_step() const { return steps == 0 ? 0 : bytes / steps; }
};

struct Steps {
  std::vector<EventIndex>
      begins;  ///< Start of each step; fewer than two: no repeating request was found.
  std::vector<std::int64_t> allocated;  ///< Allocated bytes at the start of each step.
  std::vector<std::int64_t> peaks;      ///< Peak of allocated bytes in each step.
  std::vector<Leak> leaks;              ///< The most bytes first.
};

/// Finds the requests that come once in each step, at even distances over the whole recording: each
/// begins a step. Blocks that are never freed are leaks if two steps other than the first and the
/// last requested them at one line: the first step creates optimizer states, and the last one is
/// not over.
Steps find_steps(const Snapshot& snapshot, const History& history, const Sites& sites);

}  // namespace symprof::snapshot
