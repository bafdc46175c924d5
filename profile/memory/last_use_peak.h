// What the peak of a step would be if no name held a value of the forward pass longer than it is
// needed.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof::profile {

struct PeakWithLastUses {
  std::int64_t found = 0;         ///< The peak of the recorded step, tensors alone, in bytes.
  std::int64_t at_last_uses = 0;  ///< With each block freed behind the last call that has it.
};

/// Replays the step's allocations twice, in blocks of 512 bytes: as they were recorded, and with
/// what the forward pass frees freed as soon as no call of it needs it any more.
PeakWithLastUses peak_with_last_uses(const Recording& recording);

}  // namespace symprof::profile
