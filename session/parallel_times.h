// Step times of several ranks.
#pragma once

#include <functional>
#include <vector>

#include "profile/profile.h"
#include "profile/step_time.h"
#include "record/recording.h"
#include "session/settings.h"

namespace symprof {

/// Throws Error where the device's file lacks data for times.
profile::TimeModel time_model_of(const DeviceSpec& device, const TimeOptions& options);

/// The collectives of a rank's step, for the communication stream beside its calls.
std::vector<TimedCollective> timed_collectives(const Recording& recording,
                                               const ParallelOptions& options,
                                               const DeviceSpec& device);

/// True if the step is timed and its rank waits for other ranks.
bool has_pipeline_time(const Settings& settings);

/// The settings of one rank of a pipeline, and how the other ranks are recorded.
struct PipelineRun {
  const Settings& ran;    ///< With mode and device decided.
  const Settings& given;  ///< Those that other ranks are prepared from.
  DeviceSpec device;
  std::function<Recording(const Settings&)> record;
};

/// Replaces the step time of `profile`, which is that of one rank, by the time of the whole
/// pipeline, and fills `profile.time->pipeline`. Throws what `run.record` throws.
void add_pipeline_time(const PipelineRun& run, Profile& profile);

}  // namespace symprof
