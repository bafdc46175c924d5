// Masks that become indices.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// Adds the `selected` places where the mask is true, as a row of indices for each dimension.
void add_mask(Scratch& scratch, const TensorSpec& mask, std::int64_t selected,
              const DeviceSpec& device);

}  // namespace symprof::profile
