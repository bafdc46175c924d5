// What one call costs by its operator's rule.
#pragma once

#include "profile/cost/cost.h"
#include "profile/operators/operators.h"
#include "record/recording.h"

namespace symprof::profile {

/// Confidence::unmodelled without a rule, or where the rule cannot say. Errors name the node.
Cost cost_of(const Recording& recording, const CallRecord& record, const Rule* rule);

}  // namespace symprof::profile
