// Blocks that a step holds on the simulated allocator, with their category and owner, and the
// holdings at the peak.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "profile/memory/allocator/caching_allocator.h"
#include "profile/memory/block_events.h"
#include "profile/memory/holdings.h"
#include "profile/memory/memory_data.h"
#include "profile/memory/step_memory_options.h"

namespace symprof::profile {

/// A block of the allocator with its category and owner.
struct HeldBlock {
  std::optional<Address> address;  ///< Empty: no block.
  std::int64_t bytes = 0;          ///< As the allocator counts it.
  MemoryCategory category = MemoryCategory::temporaries;
  NodeId owner = none;
};

class HeldBlocks {
 public:
  /// Thrown by a request that does not fit on the device, or that exceeds the limit of reserved
  /// memory.
  struct Refused {};

  explicit HeldBlocks(const StepMemoryOptions& options,
                      std::function<void(const BlockEvent&)> on_block = {});
  HeldBlocks(const HeldBlocks&) = delete;  // The allocator's observer points here.
  HeldBlocks& operator=(const HeldBlocks&) = delete;

  /// Requests and frees from now on belong to `call`.
  void begin_call(CallId call);
  CallId call() const { return call_; }

  /// Allocates a block of at least `bytes` (above 0) for `stream`; a graph that is replayed gets
  /// one that is empty. Throws Refused.
  HeldBlock request(std::int64_t bytes, MemoryCategory category, NodeId owner, StreamId stream = 0);
  /// nullopt if it does not fit on the device. Throws Refused if reserved memory exceeds the limit.
  std::optional<HeldBlock> request_if_there(std::int64_t bytes, MemoryCategory category,
                                            NodeId owner, StreamId stream = 0);
  /// Asks for the blocks of AllocatorSettings::up_front_bytes and gives them back: their segments
  /// stay. Peaks count from then on. Throws Refused.
  void reserve_up_front();
  /// Releases free segments to the device.
  void empty_cache() {
    allocator_.empty_cache();
    tell({.kind = BlockEvent::Kind::empty_cache, .call = call_});
  }
  /// The pool of a CUDA graph keeps its segments, or is one that empty_cache releases.
  void keep_pool(StreamId stream, bool keeps) { allocator_.keep_pool(stream, keeps); }
  /// Frees `block`, unless it has no address; it has none afterwards.
  void give_back(HeldBlock& block);
  void give_back(std::vector<HeldBlock>& blocks);

  const MemoryBreakdown& now() const { return now_; }
  /// Peak of held bytes since `begin_call`.
  std::int64_t highest_bytes() const { return highest_bytes_; }
  /// Allocated and reserved bytes.
  std::pair<std::int64_t, std::int64_t> peaks() const;
  /// Peaks count from now on.
  void reset_peaks() {
    allocator_.reset_peaks();
    mark_peak();
  }
  /// Writes the peaks, their calls and their owners.
  void report(StepMemory& memory) const;

  /// The block allocated or freed last.
  const HeldBlock& concerned() const { return concerned_; }
  std::vector<SegmentState> segments() const { return allocator_.snapshot(); }
  std::int64_t alloc_retries() const { return allocator_.statistics().alloc_retries; }

 private:
  void count(const HeldBlock& block, std::int64_t bytes);
  void tell(const BlockEvent& event) const {
    if (on_block_) on_block_(event);
  }
  void mark_peak();

  CachingAllocator allocator_;
  std::function<void(const BlockEvent&)> on_block_;
  std::vector<std::int64_t> up_front_bytes_;
  std::int64_t most_reserved_bytes_;
  CallId call_ = none;
  HeldBlock concerned_;
  MemoryBreakdown now_;
  std::int64_t highest_bytes_ = 0;
  Holdings holdings_;
  MemoryBreakdown at_peak_;
  CallId peak_call_ = none;
  std::int64_t requested_at_peak_bytes_ = 0;
};

}  // namespace symprof::profile
