// What of a loop the next micro-batch depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/memory/allocator/allocator_state.h"

namespace symprof::profile {

/// The state that determines the next micro-batch.
struct BetweenBatches {
  std::vector<SegmentState> segments;
  std::vector<std::optional<Address>> storages;
  std::int64_t alloc_retries = 0;  // Each is counted.
  bool operator==(const BetweenBatches&) const = default;
};

}  // namespace symprof::profile
