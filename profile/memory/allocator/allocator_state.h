// Counters, events and segments of the simulated allocator.
#pragma once

#include <cstdint>
#include <vector>

namespace symprof::profile {

using Address = std::int64_t;
using StreamId = std::int64_t;  ///< 0: the default stream.

/// A count of bytes now and its highest value since the start or `reset_peaks`.
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
  Gauge requested_bytes;  ///< Requested sizes, before rounding.
  /// Free parts of segments that are also in use (expandable segments left out).
  Gauge inactive_split_bytes;
  std::int64_t segments = 0;       ///< cudaMalloc segments that are held now.
  std::int64_t device_allocs = 0;  ///< Calls of cudaMalloc, or mappings.
  std::int64_t device_frees = 0;
  std::int64_t alloc_retries = 0;  ///< Times that cached memory was returned to serve a request.
  std::int64_t ooms = 0;
};

/// Kinds of events, named as in a memory snapshot (torch/csrc/cuda/Module.cpp).
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
  bool is_of_graphs = false;       ///< Of a stream below 0, a pool of CUDA graphs.
  std::vector<BlockState> blocks;  ///< They tile the segment, in the order of addresses.
  bool operator==(const SegmentState&) const = default;
};

}  // namespace symprof::profile
