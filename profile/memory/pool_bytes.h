// Bytes that the allocator's two pools hold during each call of a step. Blocks of up to 1 MiB have
// separate segments (c10/cuda/CUDACachingAllocator.cpp, get_pool), so free memory of one pool
// cannot serve the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/segment_weights.h"
#include "profile/memory/step_memory.h"
#include "record/recording.h"

namespace symprof::profile {

/// Peaks of each pool, and of both together (`all`).
struct PoolBytes {
  std::int64_t small = 0, large = 0, all = 0;
};

/// By call of the last step of the loop. Blocks hold their requested bytes in units of 512, without
/// segments: a lower bound of reserved bytes.
std::vector<PoolBytes> pool_bytes_by_call(const Recording& recording, const DeviceSpec& device,
                                          LoopOptions loop);
/// The same with `weights` instead of bytes for `small` and `large`, including the model's.
std::vector<PoolBytes> pool_weights_by_call(const Recording& recording, const DeviceSpec& device,
                                            LoopOptions loop, const PoolWeights& weights);

/// True if segments persist until a request would fail.
bool segments_stay(const AllocatorSettings& settings);

}  // namespace symprof::profile
