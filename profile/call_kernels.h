// The kernels that each call of a recording launches, for time estimates with other sizes.
#pragma once

#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/cost/time/rules.h"
#include "profile/time_data.h"
#include "record/recording.h"

namespace symprof::profile {

class OperatorTable;

/// Kernels by call; nullopt if the operator has no time rule. `own`: the caller's rules; may be
/// null.
std::vector<LaunchEstimate> kernels_of(const Recording& recording, const DeviceSpec& device,
                                       const OperatorTable* own = nullptr);

/// Host microseconds to issue a call with `launches` kernels.
double host_us_of(const DeviceSpec& device, int launches);

/// The gap between two kernels of an eager step on the device, in microseconds. 0 if kernel times
/// include it.
double kernel_gap_us_of(const DeviceSpec& device);

/// Host microseconds of a selective-checkpointing policy per call (profile/policy_calls.h).
double policy_us_of(const DeviceSpec& device, LaunchKind launch);

}  // namespace symprof::profile
