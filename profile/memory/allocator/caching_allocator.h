// PyTorch's CUDA caching allocator, simulated: the same sequence of requests and frees gives the
// same addresses, the same reserved memory and the same failures as the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "profile/memory/allocator/allocator_settings.h"
#include "profile/memory/allocator/allocator_state.h"

namespace symprof::profile {

struct Block;                   // profile/memory/allocator/blocks.h
class AllocatorImplementation;  // profile/memory/allocator/implementation.h

/// One device. Free blocks serve only their stream. A block used by another stream (record_stream)
/// is assumed to be done when it is freed. Streams below 0 are pools of CUDA graphs; other pools of
/// users are not simulated. cudaMalloc is assumed to return descending addresses, the tie-break
/// among free blocks of equal size before PyTorch 2.13 (`EqualBlocks`). Source:
/// c10/cuda/CUDACachingAllocator.cpp (2.11 to 2.14).
class CachingAllocator {
 public:
  /// `device_bytes`: what PyTorch may take from the device (its memory without CUDA's context).
  /// `total_bytes`: the device's whole memory, of which per_process_memory_fraction is taken and
  /// from which the address range of an expandable segment follows; 0: the same.
  CachingAllocator(const AllocatorSettings& settings, std::int64_t device_bytes,
                   std::int64_t total_bytes = 0);
  ~CachingAllocator();
  CachingAllocator(CachingAllocator&&) noexcept;
  CachingAllocator& operator=(CachingAllocator&&) noexcept;

  /// The address of a block of at least `bytes` (more than 0) for `stream`; nullopt if the device
  /// is full even after releasing all cached memory, where PyTorch throws OutOfMemoryError.
  std::optional<Address> allocate(std::int64_t bytes, StreamId stream = 0);
  /// `address`: from `allocate`, not yet freed.
  void free(Address address);
  /// The same for a caller that keeps blocks and needs no addresses; null if the device is full. A
  /// block is given back as it was taken.
  Block* take(std::int64_t bytes, StreamId stream);
  void give_back(Block* block);
  /// torch.cuda.empty_cache().
  void empty_cache();
  /// A stream below 0, a pool of CUDA graphs, keeps its segments (the default), or is one that
  /// empty_cache releases, as no graph uses it any more.
  void keep_pool(StreamId stream, bool keeps);
  /// torch.cuda.reset_peak_memory_stats().
  void reset_peaks();

  const AllocatorStatistics& statistics() const;
  /// All segments in the order of addresses.
  std::vector<SegmentState> snapshot() const;
  /// Calls `observer` for each event from now on.
  void observe(std::function<void(const AllocatorEvent&)> observer);

 private:
  std::unique_ptr<AllocatorImplementation> implementation_;
  std::unordered_map<Address, Block*> blocks_;  ///< Of `allocate`.
};

}  // namespace symprof::profile
