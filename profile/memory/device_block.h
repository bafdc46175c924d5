// Device bytes of a storage, before the allocator's segments.
#pragma once

#include <cstdint>

#include "base/rounding.h"
#include "profile/memory/allocator/allocator_settings.h"
#include "record/recording.h"

namespace symprof::profile {

/// Rounded to the caching allocator's smallest block; 0 on the host.
inline std::int64_t device_block_bytes(const StorageRecord& storage) {
  return storage.on_device ? round_up(storage.bytes, smallest_block_bytes) : 0;
}

}  // namespace symprof::profile
