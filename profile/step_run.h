// A step in a loop: its calls, and the collectives between them, on the queues of host and device.
#pragma once

#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/step_time.h"

namespace symprof::profile {

/// Fills the schedule and what follows from it: of `step` its launch and the busy times are read.
/// `calls` are by CallId, empty where nothing is known; `collectives` in the order in which they
/// are issued.
void run_steps(const std::vector<std::optional<CallTime>>& calls, const DeviceSpec& device,
               const std::vector<TimedCollective>& collectives, StepTime& step);

}  // namespace symprof::profile
