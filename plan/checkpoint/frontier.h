// Which calls of one region are worth keeping: every choice that no other one dominates (the Pareto
// frontier).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/checkpoint/region_costs.h"

namespace symprof::plan {

/// One way to run a region.
struct Pattern {
  std::int64_t freed_bytes = 0;  ///< Compared with the plain step.
  double cost_us = 0;
  bool runs_again = false;  ///< False: as in the plain step.
  bool is_on_host = false;  ///< Saved tensors (inputs, if recomputed) are offloaded.
  std::vector<int> kept;    ///< Indices into RegionCosts::calls, ascending.
};

/// A vertex of a piecewise linear lower bound of the costs.
struct BoundPoint {
  double freed_bytes = 0, cost_us = 0;
};

struct Frontier {
  /// By ascending freed bytes; the first is the plain step, the last keeps the inputs alone, or
  /// nothing on the device.
  std::vector<Pattern> patterns;
  /// A convex lower bound, from nothing freed to everything freed, with fractions of calls allowed.
  /// No pattern is below it.
  std::vector<BoundPoint> bound;
  /// For every set of whole calls that a region keeps, one of these points frees at least as much
  /// at no higher cost; the plain step first.
  std::vector<BoundPoint> least;
};

Frontier frontier_of(const RegionCosts& region);

}  // namespace symprof::plan
