// A key-value cache over the passes of a loop: each pass appends tokens to the previous cache.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "record/recording.h"

namespace symprof::profile {

/// The recorded pass is the last of the loop. Earlier passes find correspondingly fewer tokens in
/// the cache, at least 0.
class CacheGrowth {
 public:
  explicit CacheGrowth(const Recording& recording);

  /// Bytes of `storage` in a pass followed by `passes_left` more. A storage that is not a cache
  /// always has the recorded bytes.
  std::int64_t bytes(StorageId storage, std::int64_t passes_left) const;

  /// The cache storage before a call appends the step's tokens, and the one after.
  struct Pair {
    StorageId before = none, after = none;
  };
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::int64_t bytes_before(const Pair& pair, std::int64_t passes_left) const;

  const Recording& recording_;
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> pair_of_;  // By storage: index into pairs_, or none.
};

}  // namespace symprof::profile
