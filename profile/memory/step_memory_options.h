// The options of simulating a training loop's memory (profile/memory/step_memory.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "profile/memory/allocator/allocator_state.h"
#include "profile/memory/memory_data.h"

namespace symprof::profile {

class OperatorTable;  // profile/operators/operators.h

constexpr int most_steps = 10;

struct StepMemoryOptions {
  LoopOptions loop;
  /// Device memory that PyTorch may use; empty: unlimited.
  std::optional<std::int64_t> device_bytes;
  /// The loop ends at the first request that would reserve more than this, as if it had failed.
  /// Empty: no limit.
  std::optional<std::int64_t> most_reserved_bytes;
  /// Number of steps to simulate. The first step starts with an empty cache and no optimizer state;
  /// the second lacks the blocks that the states took; a later one may still reserve more. Empty:
  /// steps are added until one after the second raises neither peak, at most `most_steps`; two
  /// steps if a key-value cache grows.
  std::optional<int> steps;
  /// If `steps` is empty: a step that released cached blocks to the device is followed by another
  /// one.
  bool until_settled = false;
  /// For a recording of a whole program with several steps: every block is allocated and freed as
  /// recorded, and peaks and timeline are those of this range. Empty: the recording is one step.
  std::optional<ProgramRange> program;
  /// Called with each event of the allocator and the current call.
  std::function<void(const AllocatorEvent&, CallId)> observer;
  /// Rules that take precedence over the built-in ones; null: none.
  const OperatorTable* own = nullptr;
};

}  // namespace symprof::profile
