// What each pool of a step holds at each of its calls, whichever regions run again and whatever
// they keep: as sure_costs.h has it, but call by call, where that has the most of each region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/checkpoint/region_costs.h"
#include "plan/checkpoint/shared_steps.h"
#include "plan/checkpoint/sure_costs.h"

namespace symprof::plan {

/// `bytes` are held at the call without what the regions that decide about it free there.
struct HeldRow {
  static constexpr std::int64_t undecided = std::numeric_limits<std::int64_t>::min();

  std::int64_t bytes = 0;
  /// By region: what it frees if it runs again, without what it keeps, less than 0 where it takes
  /// more; undecided.
  std::vector<std::int64_t> freed;
  std::vector<std::size_t> kept;  ///< By region: the place in its PoolRows::kept.
};

/// Of one pool, whose blocks have one kind of weight.
struct PoolRows {
  bool is_small = false;
  std::int64_t base_bytes = 0, unit_bytes = 1;  ///< As in SegmentWeights.
  std::vector<HeldRow> rows;
  /// By region: what keeping each of its calls holds, less than 0 where it holds less. First,
  /// before the region goes back.
  std::vector<std::vector<std::vector<std::int64_t>>> kept;
};

/// Arguments are those of sure_costs(). Without weights, one pool has all blocks.
std::vector<PoolRows> pool_rows(const StepCosts& costs, const SharedSteps& steps,
                                const std::vector<HeldBytes>& held_bytes,
                                const std::vector<WeighedStep>& weighed);

}  // namespace symprof::plan
