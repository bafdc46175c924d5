// Calls for which a selective-checkpointing policy is invoked.
#pragma once

#include <vector>

#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::profile {

/// By call: true if it runs, for the first time or in recompute, in a region of `plan` that keeps
/// the outputs of some calls. torch.utils.checkpoint invokes the Python policy for each call of
/// such a region, and for none of a region that keeps nothing.
std::vector<bool> calls_with_policy(const Recording& recording, const CheckpointPlan& plan);

}  // namespace symprof::profile
