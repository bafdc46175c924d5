// Memory of a training loop as counted by the GPU's allocator: the recorded step runs several times
// on the simulated caching allocator, including workspaces and scratch.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "profile/memory/allocator/allocator_state.h"
#include "profile/memory/memory_data.h"
#include "profile/memory/step_memory_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// Simulates the recorded step as in a usual training loop: the next batch is loaded before the
/// previous one is freed, gradients are set to None before the forward pass
/// (zero_grad(set_to_none=True)) unless they are kept, and the outputs of a step live until the
/// next step rebinds their variable.
StepMemory simulate_step_memory(const Recording& recording, const DeviceSpec& device,
                                const StepMemoryOptions& options = {});

/// The allocator's events, and its state at the end.
struct MemoryTrace {
  struct Entry {
    AllocatorEvent event;
    CallId call = none;  ///< none: the model and its batch, before any call.
    /// The owner of the allocated or freed block, as in NodeHolding, and its category.
    NodeId owner = none;
    MemoryCategory category = MemoryCategory::temporaries;
  };
  std::vector<Entry> entries;
  std::vector<SegmentState> segments;
};

/// Simulates the loop of simulate_step_memory as a trace. `options.observer` is not called.
MemoryTrace trace_step_memory(const Recording& recording, const DeviceSpec& device,
                              StepMemoryOptions options = {});

}  // namespace symprof::profile
