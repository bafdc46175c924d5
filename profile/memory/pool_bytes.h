// What the allocator's two pools hold while each call of a step runs. Blocks of up to 1 MiB lie in
// segments of their own (c10/cuda/CUDACachingAllocator.cpp, get_pool), so that what one pool has
// free serves no request of the other.
//
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/segment_weights.h"
#include "profile/memory/step_memory.h"
#include "record/recording.h"

namespace symprof::profile {

/// At most at one moment, each; `all` is of both together.
struct PoolBytes {
  std::int64_t small = 0, large = 0, all = 0;
};

/// By call of the last step of the loop. Blocks hold what is asked for, in units of 512
/// bytes, and nothing else: less than those of any segments.
std::vector<PoolBytes> pool_bytes_by_call(const Recording& recording, const DeviceSpec& device,
                                          LoopOptions loop);
/// The same with `weights` in the place of bytes of `small` and `large`, the model's with them.
std::vector<PoolBytes> pool_weights_by_call(const Recording& recording, const DeviceSpec& device,
                                            LoopOptions loop, const PoolWeights& weights);

/// Whether segments stay once they are there, unless a request would fail without them.
bool segments_stay(const AllocatorSettings& settings);

}  // namespace symprof::profile
