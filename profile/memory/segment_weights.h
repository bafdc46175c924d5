// What blocks weigh where segments cannot be filled: a lower bound of what an allocator reserves,
// whatever it was asked for before.
//
// Blocks of 9 MiB lie in segments of 20 MiB: two of them in each, and if nothing of 2 MiB or less
// is ever asked for, the rest of it stays free. So each may count as 10 MiB. In general, sizes of
// blocks have weights so that no segment holds blocks of more weight than it has bytes; then what
// is reserved is at least what all blocks weigh. (Dual feasible functions of bin packing: Fekete
// and Schepers, Mathematical Methods of Operations Research 60, 2004.)
//
// Public header.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/step_memory.h"
#include "record/recording.h"

namespace symprof::profile {

/// Of the blocks of one pool.
struct SegmentWeights {
  std::map<std::int64_t, std::int64_t> by_bytes;  ///< By bytes in units of 512; others weigh 0.
  /// Parameters and buffers come first, so that their segments are the same in all steps: the bytes
  /// of these, without the weight that other blocks in them can have.
  std::int64_t of_model = 0;
  /// What is reserved is this and a multiple of `unit_bytes`, once both threads multiplied.
  std::int64_t base_bytes = 0;
  std::int64_t unit_bytes = 1;

  bool operator==(const SegmentWeights&) const = default;
  std::int64_t of(std::int64_t bytes) const {
    const auto found = by_bytes.find(bytes);
    return found == by_bytes.end() ? 0 : found->second;
  }
};

struct PoolWeights {
  SegmentWeights small, large;
};

/// What is on the device before the first call of a loop: the model, which stays, and its batch. In
/// the order in which they are made.
std::vector<StorageId> storages_before_loop(const Recording& recording);
bool is_of_model(const StorageRecord& storage);

/// Of all steps that ask for no other sizes than `recordings` do, at the end of a loop, unless the
/// allocator gives segments back (segments_stay). The model is that of the first recording. First,
/// blocks weigh what they have; then, as much as they can, those first of which the last recording
/// holds the most at its peak. For each recording there are then the weights of which its blocks
/// have the most when their pool holds the most bytes (segment_packing.h). Expandable segments can
/// be filled: there is the first kind alone. Where `may_reserve`, a loop may have one segment for
/// the model and all large blocks (AllocatorSettings::up_front_bytes): these weigh what they have.
std::vector<PoolWeights> segment_weights(const std::vector<const Recording*>& recordings,
                                         const DeviceSpec& device, LoopOptions loop,
                                         bool may_reserve = false);

}  // namespace symprof::profile
