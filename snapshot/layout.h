// Addresses of segments and blocks, from which block sizes follow.
#pragma once

#include <cstdint>
#include <map>

#include "profile/memory/allocator/allocator_settings.h"
#include "snapshot/snapshot.h"

namespace symprof::snapshot {

/// Ranges of addresses that the allocator has reserved, and blocks of the large pool in them.
class Layout {
 public:
  explicit Layout(const Settings& settings);

  void reserve(std::int64_t address, std::int64_t bytes, bool is_expandable);
  void release(std::int64_t address, std::int64_t bytes);

  /// Records a held block of known size.
  void hold(std::int64_t address, std::int64_t bytes);
  void give_back(std::int64_t address) { held_.erase(address); }

  /// The size of the block that a request at `address` gets: the rounded request, plus the
  /// remainder behind it if the allocator would not split that off (`should_split` of
  /// CUDACachingAllocator.cpp).
  std::int64_t block_size(std::int64_t address, std::int64_t requested) const;

 private:
  struct Range {
    std::int64_t end = 0;
    bool is_expandable = false;
  };
  std::int64_t free_behind(std::int64_t address, std::int64_t end) const;

  profile::AllocatorSettings settings_;
  std::map<std::int64_t, Range> ranges_;       // By begin.
  std::map<std::int64_t, std::int64_t> held_;  // Bytes by address, of the large pool.
};

}  // namespace symprof::snapshot
