// The peak of a step if no variable kept a forward value alive beyond its last use.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof::profile {

struct PeakWithLastUses {
  std::int64_t found = 0;         ///< The peak of the recorded step, tensors alone, in bytes.
  std::int64_t at_last_uses = 0;  ///< With each block freed after the last call that uses it.
};

/// Replays the step's allocations twice, in blocks of 512 bytes: as recorded, and with each block
/// that the forward pass frees freed right after its last use in that pass.
PeakWithLastUses peak_with_last_uses(const Recording& recording);

}  // namespace symprof::profile
