// Which calls of one region are worth keeping: every choice that no other one beats.
//
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/checkpoint/region_costs.h"

namespace symprof::plan {

/// One way to run a region.
struct Pattern {
  std::int64_t freed_bytes = 0;  ///< Beside the plain step.
  double cost_us = 0;
  bool runs_again = false;  ///< False: as in the plain step.
  bool is_on_host = false;  ///< What waits for backward (inputs, if it runs again) does so there.
  std::vector<int> kept;    ///< Of RegionCosts::calls, ascending.
};

/// A point on a lower bound of the costs; between two of them the bound is a line.
struct BoundPoint {
  double freed_bytes = 0, cost_us = 0;
};

struct Frontier {
  /// By freed bytes ascending; the first is the plain step, the last keeps the inputs alone, or
  /// nothing on the device.
  std::vector<Pattern> patterns;
  /// Convex, from nothing freed to all of it: parts of calls may be kept, too. No pattern is below.
  std::vector<BoundPoint> bound;
  /// Whatever whole calls a region keeps, one of these frees as much or more and costs as much or
  /// less; the plain step first.
  std::vector<BoundPoint> least;
};

Frontier frontier_of(const RegionCosts& region);

}  // namespace symprof::plan
