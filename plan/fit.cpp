#include "plan/fit.h"

#include <algorithm>

namespace symprof::plan {
namespace {

/// What stands aside where the peak is a lower bound: all that it may grow by.
std::int64_t set_aside(const Recording& recording) {
  const PeakDoubt doubt = profile::peak_doubt(recording);
  return doubt.is_lower_bound() ? doubt.bytes : 0;
}

/// The allocator takes its fraction of what it is told the device has.
profile::StepMemoryOptions on_device(const Budget& budget, std::int64_t aside,
                                     profile::LoopOptions loop) {
  const std::int64_t free = std::max<std::int64_t>(budget.free_bytes() - aside, 1);
  const double allowed =
      budget.fraction * static_cast<double>(budget.device_bytes) - static_cast<double>(aside);
  loop.allocator.per_process_memory_fraction =
      std::clamp(allowed / static_cast<double>(free), 0.0, 1.0);
  return {.loop = loop, .device_bytes = free};
}

}  // namespace

Fit fit(const Recording& recording, const DeviceSpec& device, const Budget& budget,
        const profile::LoopOptions& loop, std::optional<profile::ProgramRange> program) {
  const std::int64_t aside = set_aside(recording);
  profile::StepMemoryOptions there = on_device(budget, aside, loop);
  there.program = program;
  const profile::StepMemoryOptions wanted{.loop = loop, .program = program};
  return {.wanted = profile::simulate_step_memory(recording, device, wanted),
          .there = profile::simulate_step_memory(recording, device, there),
          .set_aside_bytes = aside};
}

bool fits(const Recording& recording, const DeviceSpec& device, const Budget& budget,
          const profile::LoopOptions& loop) {
  return !profile::simulate_step_memory(recording, device,
                                        on_device(budget, set_aside(recording), loop))
              .refused_call;
}

}  // namespace symprof::plan
