#include "plan/on_device.h"

#include <algorithm>

namespace symprof::plan {

profile::StepMemoryOptions on_device(const DeviceShare& share, std::int64_t aside,
                                     profile::LoopOptions loop) {
  const std::int64_t free = std::max<std::int64_t>(share.free_bytes - aside, 1);
  const double allowed =
      share.fraction * static_cast<double>(share.device_bytes) - static_cast<double>(aside);
  loop.allocator.per_process_memory_fraction =
      std::clamp(allowed / static_cast<double>(free), 0.0, 1.0);
  return {.loop = loop, .device_bytes = free};
}

bool never_asks_for_more(std::int64_t peak_reserved_bytes,
                         const profile::StepMemoryOptions& there) {
  const profile::AllocatorSettings& allocator = there.loop.allocator;
  const auto limit = static_cast<std::int64_t>(allocator.per_process_memory_fraction *
                                               static_cast<double>(*there.device_bytes));
  return allocator.garbage_collection_threshold == 0 && peak_reserved_bytes <= limit;
}

}  // namespace symprof::plan
