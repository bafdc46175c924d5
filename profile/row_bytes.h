// What a step keeps: parameters, what backward will need, the outputs of each node, and the
// allocated bytes over time.
#pragma once

#include "profile/profile.h"

namespace symprof::profile {

/// Fills the bytes of `profile.nodes` (but for backward_bytes' origin, which the recording knows)
/// and of `profile.totals`. Throws Error when the rows do not add up to the totals.
void count_memory(Profile& profile);

/// Replays the allocations in blocks of 512 bytes: `profile.totals.tensor_peak`.
void find_tensor_peak(Profile& profile);

}  // namespace symprof::profile
