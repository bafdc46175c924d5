// What a step holds for sure, whichever regions run again: the same sums as region_costs.h, but
// where that estimates, these are on the safe side. A least cost that follows from them is a bound.
//
// A storage of the forward pass is held by the calls that made or read it, so that only the regions
// of those calls decide how long it lives. Read from four recordings, in which each way in which
// two neighbours can run has happened, its lifetime is known for every choice of them. Where more
// regions have a part in it, it counts only as long as it is certain to be there.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/checkpoint/region_costs.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// Steps with some regions that run again, each keeping its inputs alone.
struct RecordedChoices {
  const Recording& plain;
  const Recording& again;  ///< All modules.
  const Recording& even;   ///< Regions 0, 2, … of StepCosts::regions.
  const Recording& odd;    ///< Regions 1, 3, …
};

/// Every second region, from `first` on.
CheckpointPlan every_second(const StepCosts& costs, std::size_t first);

/// `costs` are those that costs_of_step() read from the first two recordings, `held_bytes` is by
/// call of the plain step. In each of the costs that are returned, a window's bytes without what
/// its regions free are reserved at least, however a plan chooses among `costs.regions`: a plan has
/// to be within all of them. The first costs are of all blocks. With pools (CheckpointTrial) others
/// follow, of large blocks beside what small ones take at least, and of small beside large ones.
/// Empty where the recordings do not make the same calls.
std::vector<StepCosts> sure_costs(const StepCosts& costs, const RecordedChoices& recorded,
                                  const std::vector<std::string>& modules,
                                  const std::vector<HeldBytes>& held_bytes, bool has_pools);

}  // namespace symprof::plan
