// The simulated allocator's state and steps, named after those of CUDACachingAllocator.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "profile/memory/allocator/allocator_settings.h"
#include "profile/memory/allocator/blocks.h"

namespace symprof::profile {

class AllocatorImplementation {
 public:
  AllocatorImplementation(const AllocatorSettings& settings, std::int64_t device_bytes,
                          std::int64_t total_bytes);

  Block* take(std::int64_t bytes, StreamId stream);
  void give_back(Block* block);
  void release_cached_blocks();
  void keep_pool(StreamId stream, bool keeps);
  std::vector<SegmentState> snapshot() const;

  AllocatorStatistics statistics;
  std::function<void(const AllocatorEvent&)> observer;

 private:
  struct Request {
    std::int64_t bytes = 0;  ///< Rounded.
    Pool* pool = nullptr;
  };

  // Requests.
  Pools& pools_of(StreamId stream);
  Block* find_free_block(const Request& request);
  Block* take_new_block(const Request& request, bool is_retry);
  Block* take_segment(const Request& request);
  std::int64_t next_number(const Block* whole);
  bool should_split(const Block& block, const Request& request) const;
  Block* split(Block* block, const Request& request);
  void count_use(Block& block, bool was_split, bool is_first_part);

  // Frees.
  std::int64_t merge(Block* block, Block* neighbor);
  bool release_oversize_blocks(const Request& request);
  void collect_garbage();
  void release_unsplit_blocks(Pool& pool);
  void release_block(Block* block);

  // Expandable segments (expandable_segments.cpp).
  Block* grow_expandable(const Request& request);
  Block* find_expandable(const Request& request);
  Block* make_expandable(Pool& pool);
  bool map(Block* block, std::int64_t bytes);
  void unmap(Block* block);

  void tell(AllocatorAction action, Address address, std::int64_t bytes) const {
    if (observer) observer({action, address, bytes});
  }
  bool collects_garbage() const {
    return limit_bytes_ && settings_.garbage_collection_threshold > 0;
  }

  AllocatorSettings settings_;
  std::int64_t total_bytes_;
  std::optional<std::int64_t> limit_bytes_;
  DeviceMemory device_;
  std::map<StreamId, Pools> pools_;
  StreamId last_stream_ = 0;
  Pools* last_pools_ = nullptr;  ///< Of the last request's stream, mostly the next one's, too.
  BlockArena arena_;
  std::int64_t last_number_ = 0;
  std::deque<ExpandableSegment> segments_;
};

}  // namespace symprof::profile
