// Analysis of an allocation history: owners of the peak, blocks never freed, fragmentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "snapshot/history.h"
#include "snapshot/sites.h"
#include "snapshot/steps.h"

namespace symprof::snapshot {

/// Blocks of one line or module.
struct Share {
  std::uint32_t site = 0;  ///< A LineId or a ModuleId.
  std::int64_t bytes = 0, blocks = 0;
};

/// Segments of one pool and stream.
struct PoolUse {
  PoolId pool;
  std::int64_t stream = 0;
  bool is_small = false, is_expandable = false;
  std::int64_t segments = 0, bytes = 0;
  std::int64_t allocated = 0;  ///< Bytes in blocks that are held, or still used by other streams.
  std::int64_t largest_free = 0;
};

/// Requests of one line for which the allocator reserved more memory.
struct PoolGrowth {
  LineId line = 0;
  std::int64_t bytes = 0, requests = 0;
  /// Of these, requests made while the pools had at least as many bytes free, in other blocks.
  std::int64_t bytes_beside_free = 0, requests_beside_free = 0;
};

struct OutOfMemory {
  EventIndex event = no_event;
  std::int64_t requested = 0, device_free = 0;
  Usage usage;
  LineId line = 0;
};

/// Fragmentation at the peak of reserved memory.
struct Fragmentation {
  EventIndex event = no_event;
  std::int64_t reserved = 0, allocated = 0;
  std::vector<PoolGrowth> growth;  ///< The largest first.
};

struct DeviceAnswer {
  History history;
  std::vector<Share> lines_at_peak, modules_at_peak;  ///< Of the allocated peak, largest first.
  std::vector<Share> never_freed;  ///< Of what was asked for in the recording, by line.
  std::vector<PoolUse> pools;
  Fragmentation fragmentation;
  std::vector<OutOfMemory> out_of_memory;
  Steps steps;
};

/// The device of `snapshot` with the most events; if none has events, the one with the most bytes.
std::size_t busiest_device(const Snapshot& snapshot);

DeviceAnswer analyze(const Snapshot& snapshot, const Sites& sites, std::size_t device);

/// Bytes held after `event`, by line or by module; the largest first.
std::vector<Share> lines_at(const History& history, const Sites& sites, EventIndex event);
std::vector<Share> modules_at(const History& history, const Sites& sites, EventIndex event);

}  // namespace symprof::snapshot
