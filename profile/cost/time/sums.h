// Sums whose numbers do not lie in one piece: gradients of biases and scales.
#pragma once

#include "profile/cost/time/rules.h"

namespace symprof::profile {

/// Bytes in whose time a GPU takes `numbers` of `number_bytes` bytes into sums: those that it
/// reads, or of 16-bit numbers, each of which becomes fp32, more.
std::int64_t bytes_of_sum(std::int64_t numbers, std::int64_t number_bytes,
                          const DeviceSpec& device);

/// The kernel that takes `length` numbers into each of `results`, which reads as many bytes as
/// `bytes_read`, on a GPU, where neighbours in memory go to different results. Both are at least 1.
Kernel sum_across(std::int64_t results, std::int64_t length, std::int64_t bytes_read,
                  const DeviceSpec& device);

/// The same where neighbours go to one result, but not all that go there are neighbours: the images
/// and places of a channel.
Kernel sum_apart(std::int64_t results, std::int64_t length, std::int64_t bytes_read,
                 const DeviceSpec& device);

}  // namespace symprof::profile
