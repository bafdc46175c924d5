// PyTorch's CUDA caching allocator, simulated: the same sequence of requests and frees gives the
// same addresses, the same reserved memory and the same failures as the real one.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "profile/memory/allocator/allocator_settings.h"

namespace symprof::profile {

using Address = std::int64_t;
using StreamId = std::int64_t;  ///< 0: the default stream.

/// Current bytes, and the peak since the start or `reset_peaks`.
struct Gauge {
  std::int64_t current = 0;
  std::int64_t peak = 0;

  void add(std::int64_t bytes) {
    current += bytes;
    if (current > peak) peak = current;
  }
};

/// Named as in torch.cuda.memory_stats.
struct AllocatorStatistics {
  Gauge allocated_bytes;  ///< Blocks in use, rounding included: torch.cuda.memory_allocated.
  Gauge reserved_bytes;   ///< Segments taken from the device: torch.cuda.memory_reserved.
  Gauge requested_bytes;  ///< Requested bytes, before rounding.
  /// Free parts of segments that are also in use (expandable segments left out).
  Gauge inactive_split_bytes;
  std::int64_t segments = 0;       ///< cudaMalloc segments currently held.
  std::int64_t device_allocs = 0;  ///< Calls of cudaMalloc, or mappings.
  std::int64_t device_frees = 0;
  std::int64_t alloc_retries = 0;  ///< Number of requests for which cached memory was released.
  std::int64_t ooms = 0;
};

/// Allocator actions, named as in a memory snapshot (torch/csrc/cuda/Module.cpp).
enum class AllocatorAction : std::uint8_t {
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  alloc,
  free,
  oom,
};

struct AllocatorEvent {
  AllocatorAction action = AllocatorAction::alloc;
  Address address = 0;  ///< For `oom`, as in PyTorch's snapshots: the free bytes of the device.
  /// For `alloc`, `free` and `oom` as requested, before rounding; else those of segment or pages.
  std::int64_t bytes = 0;
};

/// A block of a segment, as a snapshot lists it.
struct BlockState {
  Address address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested_bytes = 0;
  bool is_allocated = false;
  bool operator==(const BlockState&) const = default;
};

struct SegmentState {
  Address address = 0;
  std::int64_t bytes = 0;
  bool is_small = false;
  bool is_expandable = false;
  std::vector<BlockState> blocks;  ///< They tile the segment, in the order of addresses.
  bool operator==(const SegmentState&) const = default;
};

/// One device. Free blocks serve only their stream. A block used by another stream (record_stream)
/// is assumed to be done when it is freed; CUDA graphs and user pools are not simulated. cudaMalloc
/// is assumed to return descending addresses, the tie-break among free blocks of equal size before
/// PyTorch 2.13 (`EqualBlocks`). Source: c10/cuda/CUDACachingAllocator.cpp (2.11 to 2.14).
class CachingAllocator {
 public:
  class Implementation;  ///< profile/memory/allocator/implementation.h

  /// `device_bytes`: memory available to PyTorch (the device's without CUDA's context).
  /// `total_bytes`: the device's total memory, the base of per_process_memory_fraction and of an
  /// expandable segment's address range; 0: the same.
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
  /// torch.cuda.empty_cache().
  void empty_cache();
  /// torch.cuda.reset_peak_memory_stats().
  void reset_peaks();

  const AllocatorStatistics& statistics() const;
  /// All segments in the order of addresses.
  std::vector<SegmentState> snapshot() const;
  /// Calls `observer` for each event from now on.
  void observe(std::function<void(const AllocatorEvent&)> observer);

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace symprof::profile
