#include "plan/fit.h"

namespace symprof::plan {

Fit fit(const Recording& recording, const DeviceSpec& device, const Budget& budget,
        const profile::LoopOptions& loop) {
  profile::StepMemoryOptions options{.loop = loop};
  Fit result;
  result.wanted = simulate_step_memory(recording, device, options);
  options.device_bytes = budget.available_bytes();
  result.there = simulate_step_memory(recording, device, options);
  return result;
}

bool fits(const Recording& recording, const DeviceSpec& device, const Budget& budget,
          const profile::LoopOptions& loop) {
  const profile::StepMemoryOptions options{.loop = loop, .device_bytes = budget.available_bytes()};
  return !simulate_step_memory(recording, device, options).refused_call;
}

}  // namespace symprof::plan
