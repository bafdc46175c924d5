// Which kernels each call of a recording launches, for those who ask how long they would take with
// other sizes.
//
// Public header.
#pragma once

#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/cost/time/rules.h"
#include "profile/step_time.h"
#include "record/recording.h"

namespace symprof::profile {

class OperatorTable;

/// By call; nothing where an operator has no rule for it. `own` are rules of the caller's; may be
/// null.
std::vector<LaunchEstimate> kernels_of(const Recording& recording, const DeviceSpec& device,
                                       const OperatorTable* own = nullptr);

/// What the host takes to issue a call that launches so many kernels, in microseconds.
double host_us_of(const DeviceSpec& device, int launches);

/// What lies between two kernels of an eager step on the device, in microseconds. 0 where the times
/// of kernels have it in them.
double kernel_gap_us_of(const DeviceSpec& device);

/// What a policy of selective checkpointing takes of the host for a call (profile/policy_calls.h).
double policy_us_of(const DeviceSpec& device, LaunchKind launch);

/// What the hooks of a spacer take of the host in a forward pass (profile/memory/spacers.h).
double spacer_us_of(const DeviceSpec& device, LaunchKind launch);

}  // namespace symprof::profile
