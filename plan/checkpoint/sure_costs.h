// What a step holds for sure, whichever regions run again: the same sums as region_costs.h, but
// where that estimates, these are on the safe side. A least cost that follows from them is a bound.
//
// A storage of the forward pass is held by the calls that made or read it, so that only the regions
// of those calls decide how long it lives. Read from four recordings, in which each way in which
// two neighbours can run has happened, its lifetime is known for every choice of them. Where more
// regions have a part in it, it counts only as long as it is certain to be there.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/checkpoint/region_costs.h"
#include "plan/checkpoint/shared_steps.h"

namespace symprof::plan {

/// What blocks of both pools weigh, and what they hold at each call of the plain step.
struct WeighedStep {
  profile::PoolWeights weights;
  std::vector<HeldBytes> held;
};

/// `costs` are those that costs_of_step() read from the first two recordings, `held_bytes` is by
/// call of the plain step. In each of the costs that are returned, a window's bytes without what
/// its regions free are reserved at least, however a plan chooses among `costs.regions`: a plan has
/// to be within all of them. The first costs are of all blocks. For each way in which blocks weigh
/// (CheckpointTrial::segment_weights) two follow, of large blocks beside what small ones take at
/// least, and of small beside large ones; one where the other weighs as before. `steps` are alike.
std::vector<StepCosts> sure_costs(const StepCosts& costs, const SharedSteps& steps,
                                  const std::vector<HeldBytes>& held_bytes,
                                  const std::vector<WeighedStep>& weighed);

}  // namespace symprof::plan
