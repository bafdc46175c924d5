// Sums over noncontiguous elements: gradients of biases and scales.
#pragma once

#include "profile/cost/time/rules.h"

namespace symprof::profile {

/// The time, as bytes, in which a GPU sums `numbers` elements of `number_bytes` bytes: the bytes
/// read; more for 16-bit elements, which are converted to fp32.
std::int64_t bytes_of_sum(std::int64_t numbers, std::int64_t number_bytes,
                          const DeviceSpec& device);

/// The GPU kernel that sums `length` elements into each of `results`, reading `bytes_read`, when
/// neighbors in memory belong to different results. `results` and `length` are at least 1.
Kernel sum_across(std::int64_t results, std::int64_t length, std::int64_t bytes_read,
                  const DeviceSpec& device);

/// The same when neighbors in memory belong to one result, but its elements are in several runs: in
/// [batch, channels, positions], a channel has one run per image.
Kernel sum_apart(std::int64_t results, std::int64_t length, std::int64_t bytes_read,
                 const DeviceSpec& device);

}  // namespace symprof::profile
