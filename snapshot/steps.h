// Finds the steps of a program in its requests, and the blocks that steps leave allocated.
//
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include "snapshot/history.h"
#include "snapshot/sites.h"

namespace symprof::snapshot {

/// Blocks of one line that several steps left behind.
struct Leak {
  LineId line = 0;
  std::int64_t bytes = 0, blocks = 0;
  std::int64_t steps = 0;  ///< In how many steps they were asked for.
  std::int64_t bytes_per_step() const { return steps == 0 ? 0 : bytes / steps; }
};

struct Steps {
  std::vector<EventIndex> begins;       ///< Of each step; fewer than two: no rhythm was found.
  std::vector<std::int64_t> allocated;  ///< When each began.
  std::vector<std::int64_t> peaks;      ///< Of each, allocated.
  std::vector<Leak> leaks;              ///< The most bytes first.
};

/// A step begins with a request that comes once in each step, at even distances over the whole
/// recording. What steps but the first and the last asked for, and what nobody gave back by the
/// end, is what leaks: parameters' states are made in the first, and of the last step much is still
/// held.
Steps find_steps(const Snapshot& snapshot, const History& history, const Sites& sites);

}  // namespace symprof::snapshot
