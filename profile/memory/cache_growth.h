// A key-value cache over the passes of a loop: each finds what the last one left, and adds tokens.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "record/recording.h"

namespace symprof::profile {

/// The recorded pass is the last of the loop. The ones before it find so many tokens less in the
/// cache, and none where that would be less than none.
class CacheGrowth {
 public:
  explicit CacheGrowth(const Recording& recording);

  /// Bytes of `storage` in a pass that `passes_left` more follow. A storage that is no cache always
  /// has the recorded ones.
  std::int64_t bytes(StorageId storage, std::int64_t passes_left) const;

  /// The storage that a call joins with the step's tokens, and the one that it makes of them.
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
