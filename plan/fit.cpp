#include "plan/fit.h"

#include <algorithm>

#include "plan/on_device.h"
#include "profile/memory/other_calls.h"
#include "profile/memory/peak_uncertainty.h"
#include "profile/memory/step_memory.h"

namespace symprof::plan {
namespace {

/// Bytes set aside where the peak is a lower bound.
std::int64_t set_aside(const Recording& recording) {
  return profile::peak_uncertainty(recording).margin_bytes();
}

DeviceShare share_of(const Budget& budget) {
  return {budget.device_bytes, budget.free_bytes(), budget.fraction};
}

}  // namespace

Fit fit(const Recording& recording, const DeviceSpec& device, const Budget& budget,
        const profile::LoopOptions& loop, std::optional<ProgramRun> program) {
  const std::int64_t aside = set_aside(recording);
  Fit found{.wanted = program ? program->wanted
                              : profile::simulate_step_memory(recording, device, {.loop = loop}),
            .set_aside_bytes = aside};
  const auto run_beside = [&](std::int64_t bytes) {
    profile::StepMemoryOptions options = on_device(share_of(budget), bytes, loop);
    if (program) options.program = program->range;
    if (!found.wanted.refused_call &&
        never_asks_for_more(found.wanted.peak_reserved_bytes, options))
      return found.wanted;
    return profile::simulate_step_memory(recording, device, options);
  };
  found.there = run_beside(aside);
  if (const PeakUncertainty& uncertainty = found.wanted.uncertainty; uncertainty.is_lower_bound()) {
    const auto fits_beside = [&](std::int64_t bytes) {
      return bytes == aside ? found.fits() : !run_beside(bytes).refused_call;
    };
    found.fits_if_likely = fits_beside(uncertainty.bytes);
    found.fits_at_most = fits_beside(uncertainty.most_bytes);
  }
  if (found.wanted.other_calls.may_miss())
    found.other_calls_bytes =
        profile::other_calls_margin_bytes(recording, found.wanted.uncertainty.peak_bytes);
  if (found.other_calls_bytes > 0)
    found.fits_with_other_calls = !run_beside(aside + found.other_calls_bytes).refused_call;
  return found;
}

bool fits(const Recording& recording, const DeviceSpec& device, const Budget& budget,
          const profile::LoopOptions& loop) {
  return !profile::simulate_step_memory(recording, device,
                                        on_device(share_of(budget), set_aside(recording), loop))
              .refused_call;
}

}  // namespace symprof::plan
