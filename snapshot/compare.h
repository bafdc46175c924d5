// Two snapshots side by side: blocks added to, removed from and resized in their allocated peaks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapshot/history.h"
#include "snapshot/sites.h"

namespace symprof::snapshot {

/// One line or module at both allocated peaks. `after.bytes - before.bytes` is added_bytes +
/// resized_bytes - removed_bytes.
struct SiteChange {
  struct Held {
    std::string name;  ///< Empty on a side that does not have it.
    std::int64_t bytes = 0, blocks = 0;
  };
  Held before, after;
  std::int64_t added_bytes = 0, added_blocks = 0;
  std::int64_t removed_bytes = 0, removed_blocks = 0;
  /// Of requests that both have, with other sizes; below 0: shrank.
  std::int64_t resized_bytes = 0;
  std::int64_t resized_blocks = 0;

  std::int64_t bytes() const { return after.bytes - before.bytes; }
};

struct Comparison {
  std::vector<SiteChange> lines,
      modules;  ///< Those that go the way of the peak first, the largest first.
};

/// One history, with the names of its sites.
struct NamedHistory {
  const History& history;
  const Sites& sites;
};

/// Compares two histories. Lines are matched by file and function, by order within a function, and
/// by their blocks, so code that only moved is not a change. Blocks of a line are matched by
/// requested size, and the remaining ones by order.
Comparison compare(const NamedHistory& before, const NamedHistory& after);

}  // namespace symprof::snapshot
