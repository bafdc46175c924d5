// Plans with expandable segments, beside those for the segments of the settings.
#pragma once

#include "plan/checkpoint/answers.h"
#include "session/checkpoint_answer.h"
#include "session/session.h"

namespace symprof {

/// Fills CheckpointAnswer::expandable. `grown` is the plain step with expandable segments: where it
/// fits every budget, no plan is searched.
void offer_expandable(Session& session, const Settings& settings,
                      const CheckpointQuestion& question, const plan::SimulatedPlan& grown,
                      CheckpointAnswer& answer);

}  // namespace symprof
