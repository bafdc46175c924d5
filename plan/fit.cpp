#include "plan/fit.h"

#include <algorithm>

namespace symprof::plan {
namespace {

/// The allocator takes its fraction of what it is told the device has.
profile::StepMemoryOptions on_device(const Budget& budget, profile::LoopOptions loop) {
  loop.allocator.per_process_memory_fraction =
      std::min(1.0, budget.fraction * static_cast<double>(budget.device_bytes) /
                        static_cast<double>(budget.free_bytes()));
  return {.loop = loop, .device_bytes = budget.free_bytes()};
}

}  // namespace

Fit fit(const Recording& recording, const DeviceSpec& device, const Budget& budget,
        const profile::LoopOptions& loop) {
  return {.wanted = profile::simulate_step_memory(recording, device, {.loop = loop}),
          .there = profile::simulate_step_memory(recording, device, on_device(budget, loop))};
}

bool fits(const Recording& recording, const DeviceSpec& device, const Budget& budget,
          const profile::LoopOptions& loop) {
  return !profile::simulate_step_memory(recording, device, on_device(budget, loop)).refused_call;
}

}  // namespace symprof::plan
