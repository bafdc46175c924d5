// The bytes of each pool at each call of a step, for any choice of recomputed regions and kept
// calls: as in sure_costs.h, but call by call, where sure_costs.h takes each region's maximum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/checkpoint/region_costs.h"
#include "plan/checkpoint/shared_steps.h"
#include "plan/checkpoint/sure_costs.h"

namespace symprof::plan {

/// `bytes`: held at the call before subtracting what the regions named here free.
struct HeldRow {
  static constexpr std::int64_t undecided = std::numeric_limits<std::int64_t>::min();

  std::int64_t bytes = 0;
  /// By region: the bytes it frees if it is recomputed and keeps nothing, negative where it takes
  /// more; undecided.
  std::vector<std::int64_t> freed;
  std::vector<std::size_t> kept;  ///< By region: an index into its PoolRows::kept.
};

/// Rows of one pool, whose blocks have one kind of weight.
struct PoolRows {
  bool is_small = false;
  std::int64_t base_bytes = 0, unit_bytes = 1;  ///< As in SegmentWeights.
  std::vector<HeldRow> rows;
  /// By region: alternatives of the bytes held by keeping each of its calls, negative where keeping
  /// holds less. The first one applies before the region's recomputation.
  std::vector<std::vector<std::vector<std::int64_t>>> kept;
};

/// Takes the arguments of sure_costs(). Without weights, one pool has all blocks.
std::vector<PoolRows> pool_rows(const StepCosts& costs, const SharedSteps& steps,
                                const std::vector<HeldBytes>& held_bytes,
                                const std::vector<WeighedStep>& weighed);

}  // namespace symprof::plan
