// Simulates a step in a loop: its calls and collectives on the queues of host and device.
#pragma once

#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/time_data.h"

namespace symprof::profile {

/// Fills the schedule of `step` and the times derived from it; reads its launch kind and busy
/// times. `calls`: by CallId, empty if unknown; `collectives`: in issue order.
void run_steps(const std::vector<std::optional<CallTime>>& calls, const DeviceSpec& device,
               const std::vector<TimedCollective>& collectives, StepTime& step);

}  // namespace symprof::profile
