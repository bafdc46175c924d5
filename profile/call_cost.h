// The cost of one call by its operator's rule.
#pragma once

#include "profile/cost/cost.h"
#include "profile/operators/operators.h"
#include "record/recording.h"

namespace symprof::profile {

/// The cost of a call; Confidence::unmodelled without a rule, or if the rule does not cover the
/// call. Errors name the node.
Cost cost_of(const Recording& recording, const CallRecord& record, const Rule* rule);

}  // namespace symprof::profile
