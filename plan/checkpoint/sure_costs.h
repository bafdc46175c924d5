// Lower bounds on what a step holds, whatever regions are recomputed: the same sums as
// region_costs.h, but on the safe side where that estimates. The least cost that follows from them
// bounds every plan.
//
// A forward storage is held by the calls that made or read it, so only the regions of those calls
// decide about its lifetime. The four recordings cover every combination of two neighboring
// regions, so its lifetime is known for every choice of them. If more regions are involved, the
// storage counts only while it is certain to be alive.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/checkpoint/region_costs.h"
#include "plan/checkpoint/shared_steps.h"

namespace symprof::plan {

/// The weights of blocks in both pools, and what blocks hold at each call of the plain step.
struct WeighedStep {
  profile::PoolWeights weights;
  std::vector<HeldBytes> held;
};

/// `costs` are those that costs_of_step() read from the first two recordings; `held_bytes` is by
/// call of the plain step. In each returned StepCosts, a window's bytes minus what its regions free
/// are a lower bound of reserved memory, whatever a plan chooses among `costs.regions`: a plan must
/// satisfy all of them. The first costs are of all blocks. Each way of weighing blocks
/// (CheckpointTrial::segment_weights) adds two: large blocks beside the least memory of small ones,
/// and small blocks beside large ones; only one where the other's weights repeat. `steps` must be
/// alike.
std::vector<StepCosts> sure_costs(const StepCosts& costs, const SharedSteps& steps,
                                  const std::vector<HeldBytes>& held_bytes,
                                  const std::vector<WeighedStep>& weighed);

}  // namespace symprof::plan
