// The peak of a step as the largest of several formulas: one for each call at which some sizes have
// their peak.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "plan/formulas/formulas.h"
#include "profile/memory/step_memory.h"

namespace symprof::plan {

/// The most bytes during each call, the first before any call: of call `id` at `id + 1`.
using BytesByCall = std::vector<std::int64_t>;

/// What the training loop has asked the allocator for and not given back, blocks not rounded up:
/// its largest is requested_bytes.all.peak of torch.cuda.memory_stats.
BytesByCall requested_by_call(const Recording& recording, const DeviceSpec& device,
                              const profile::LoopOptions& loop);

/// A call that has the peak at some sizes, and the bytes during it at all sizes.
struct PeakMoment {
  CallId call = none;
  Formula formula;
};

/// The moments whose largest is the peak at all of `known`, which `measure` adds to when it is
/// asked for more sizes. Empty where there is one moment alone, or where a formula is missing.
std::vector<PeakMoment> find_peak_moments(const std::vector<Variable>& variables,
                                          const std::map<Sizes, BytesByCall>& known,
                                          const std::function<void(const Sizes&)>& measure);

}  // namespace symprof::plan
