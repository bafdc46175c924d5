// A loop as the requests that it makes of the allocator, whatever that does with them.
#pragma once

#include <cstdint>
#include <functional>

#include "base/device_spec.h"
#include "profile/memory/memory_data.h"
#include "profile/memory/step_memory_options.h"
#include "record/recording.h"

namespace symprof::profile {

struct BlockEvent {
  enum class Kind : std::uint8_t { take, give_back, empty_cache };
  Kind kind = Kind::take;
  MemoryCategory category = MemoryCategory::temporaries;
  CallId call = none;      ///< That runs; none: before the first one.
  Address address = 0;     ///< Of the block; unique among those that are held.
  std::int64_t bytes = 0;  ///< As asked for, before rounding.
  StreamId stream = 0;
};

struct LoopWatcher {
  std::function<void(const BlockEvent&)> on_block;
  std::function<void()> on_batch;  ///< Before each batch of a loop of one step; may be empty.
};

/// Runs the loop of simulate_step_memory and tells all that it asks for.
void watch_step_memory(const Recording& recording, const DeviceSpec& device,
                       const StepMemoryOptions& options, const LoopWatcher& watcher);

}  // namespace symprof::profile
