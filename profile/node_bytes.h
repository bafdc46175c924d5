// Bytes that a step keeps: parameters, saved tensors, node outputs, and allocated bytes over time.
#pragma once

#include "profile/profile.h"

namespace symprof::profile {

/// Fills the kept bytes in `profile.nodes` and `profile.totals`, without peaks and transfers.
/// Throws Error if the nodes do not sum to the totals.
void count_memory(Profile& profile);

/// Fills `profile.totals.tensor_peak`: replays the allocations in blocks of 512 bytes.
void find_tensor_peak(Profile& profile);

}  // namespace symprof::profile
