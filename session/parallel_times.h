// How long the steps of several ranks take.
#pragma once

#include <vector>

#include "profile/profile.h"
#include "profile/step_time.h"
#include "record/recording.h"
#include "session/session.h"
#include "session/settings.h"

namespace symprof {

/// Throws Error where the device's file lacks what times need.
profile::TimeModel time_model_of(const DeviceSpec& device, const TimeOptions& options);

/// The collectives of a rank's step, for the queue beside its calls.
std::vector<TimedCollective> timed_collectives(const Recording& recording,
                                               const ParallelOptions& options,
                                               const DeviceSpec& device);

/// Whether the step is timed, and is that of a rank that waits for others.
bool has_pipeline_time(const Settings& settings);

/// Fills `pipeline` of the time of `profile`, whose step becomes the pipeline's: the other ranks of
/// `model` are prepared and recorded for that. Throws what Session::prepare and record throw.
void add_pipeline_time(Session& session, const PreparedModel& model, Profile& profile);

}  // namespace symprof
