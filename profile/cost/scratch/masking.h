// Masks converted to indices.
#pragma once

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// Adds the positions of the `selected` true elements: one row of indices per dimension.
void add_mask(Scratch& scratch, const TensorSpec& mask, std::int64_t selected,
              const DeviceSpec& device);

}  // namespace symprof::profile
