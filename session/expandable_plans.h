// Plans with segments that grow, beside those for the segments of the settings.
#pragma once

#include "session/session.h"

namespace symprof {

/// Fills CheckpointAnswer::expandable. `grown` is the plain step with such segments: where it holds
/// every budget, nothing else is looked for.
void offer_expandable(Session& session, const Settings& settings,
                      const CheckpointQuestion& question, const plan::PlayedPlan& grown,
                      CheckpointAnswer& answer);

}  // namespace symprof
