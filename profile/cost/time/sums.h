// Sums over all dimensions but that whose numbers lie together: gradients of biases and scales.
#pragma once

#include "profile/cost/time/rules.h"

namespace symprof::profile {

/// The kernel that adds up `length` numbers for each of `results`, of `number_bytes` bytes each,
/// on a GPU, where neighbours in memory go to different results. Both are at least 1.
Kernel sum_across(std::int64_t results, std::int64_t length, std::int64_t number_bytes,
                  const DeviceSpec& device);

}  // namespace symprof::profile
