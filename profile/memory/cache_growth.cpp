#include "profile/memory/cache_growth.h"

#include <algorithm>

namespace symprof::profile {

CacheGrowth::CacheGrowth(const Recording& recording)
    : recording_(recording), pair_of_(recording.storages.size(), none) {
  if (!recording.kv_cache) return;
  const auto is_cache = [&](StorageId id) {
    return id != none &&
           recording.storages[static_cast<std::size_t>(id)].kind == StorageKind::kv_cache;
  };
  for (std::size_t i = 0; i < recording.storages.size(); ++i) {
    const auto after = static_cast<StorageId>(i);
    const CallId call = recording.storages[i].allocated_by;
    if (!is_cache(after) || call == none) continue;
    for (const TensorRecord& input : recording.calls[static_cast<std::size_t>(call)].inputs) {
      if (!is_cache(input.storage)) continue;
      pair_of_[i] = pair_of_[static_cast<std::size_t>(input.storage)] =
          static_cast<std::int32_t>(pairs_.size());
      pairs_.push_back({input.storage, after});
      break;
    }
  }
}

std::int64_t CacheGrowth::bytes_before(const Pair& pair, std::int64_t passes_left) const {
  const std::int64_t before = recording_.storages[static_cast<std::size_t>(pair.before)].bytes;
  const std::int64_t after = recording_.storages[static_cast<std::size_t>(pair.after)].bytes;
  return std::max<std::int64_t>(0, before - passes_left * (after - before));
}

std::int64_t CacheGrowth::bytes(StorageId storage, std::int64_t passes_left) const {
  const std::int32_t index = pair_of_[static_cast<std::size_t>(storage)];
  if (index == none || passes_left == 0)
    return recording_.storages[static_cast<std::size_t>(storage)].bytes;
  const Pair& pair = pairs_[static_cast<std::size_t>(index)];
  return bytes_before(pair, storage == pair.before ? passes_left : passes_left - 1);
}

}  // namespace symprof::profile
