// What a step keeps: parameters, what backward will need, the outputs of each node, and the
// allocated bytes over time.
#pragma once

#include "profile/profile.h"

namespace symprof::profile {

/// Fills the bytes that are kept, in `profile.nodes` and `profile.totals`: neither peaks nor
/// transfers. Throws Error when the nodes do not add up to the totals.
void count_memory(Profile& profile);

/// Fills `profile.totals.tensor_peak`: replays the allocations in blocks of 512 bytes.
void find_tensor_peak(Profile& profile);

}  // namespace symprof::profile
