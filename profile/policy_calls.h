// Calls about which a policy of selective checkpointing is asked.
//
// Public header.
#pragma once

#include <vector>

#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::profile {

/// By call: whether it is made, first or again, in a region of `plan` that keeps the outputs of
/// some calls. torch.utils.checkpoint asks Python about each call of such a region, and about none
/// of one that keeps nothing.
std::vector<bool> calls_with_policy(const Recording& recording, const CheckpointPlan& plan);

}  // namespace symprof::profile
