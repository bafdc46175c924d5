// Masks that become indices.
#pragma once

#include "profile/temporaries/temporaries.h"

namespace symprof::profile {

/// The `selected` places where the mask is true, one row of indices for each dimension.
void add_mask(Temporaries& temporaries, const TensorSpec& mask, std::int64_t selected,
              const DeviceSpec& device);

}  // namespace symprof::profile
