// Weights of blocks when segments cannot be filled: a lower bound of an allocator's reserved
// memory, for every request history.
//
// For example, a 20 MiB segment holds two blocks of 9 MiB; without requests of 2 MiB or less, the
// rest stays free, so each block may count as 10 MiB. In general, block sizes get weights such that
// no segment holds blocks of more weight than its bytes; then reserved bytes are at least the total
// weight. (Dual feasible functions of bin packing: Fekete and Schepers, Mathematical Methods of
// Operations Research 60, 2004.)
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
  std::map<std::int64_t, std::int64_t>
      by_bytes;  ///< By bytes in units of 512; absent sizes weigh 0.
  /// Parameters and buffers are allocated first, so their segments are the same in all steps: the
  /// bytes of these segments, minus the weight that other blocks in them can have.
  std::int64_t of_model = 0;
  /// Reserved bytes are this plus a multiple of `unit_bytes`, once both threads have run matrix
  /// products.
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

/// Storages on the device before the first call of a loop, in allocation order: the model, which
/// persists, and the batch.
std::vector<StorageId> storages_before_loop(const Recording& recording);
bool is_of_model(const StorageRecord& storage);

/// Weights valid for all steps that request only sizes of `recordings`, at the end of a loop,
/// unless the allocator releases segments (segments_stay). The model is that of the first
/// recording. First, weights equal to the blocks' bytes; second, maximal weights, with priority to
/// sizes that hold the most at the last recording's peak; then, for each recording, the weights
/// that maximize its blocks' weight at the peak of their pool (segment_packing.h). Expandable
/// segments can be filled, so they have only the first kind. With `may_reserve`, a loop may have
/// one segment for the model and all large blocks (AllocatorSettings::up_front_bytes), which then
/// weigh their bytes.
std::vector<PoolWeights> segment_weights(const std::vector<const Recording*>& recordings,
                                         const DeviceSpec& device, LoopOptions loop,
                                         bool may_reserve = false);

}  // namespace symprof::profile
