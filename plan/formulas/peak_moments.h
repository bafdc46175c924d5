// The peak of a step as the maximum of several formulas: one for each call at which some sizes have
// their peak.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/device_spec.h"
#include "plan/formulas/formulas.h"
#include "profile/memory/memory_data.h"

namespace symprof::plan {

/// The most bytes held before the first call, and during each call: call `id` is at `id + 1`.
using BytesByCall = std::vector<std::int64_t>;

/// By call: bytes that the training loop has requested and not freed, without rounding of blocks:
/// the maximum is requested_bytes.all.peak of torch.cuda.memory_stats.
BytesByCall requested_by_call(const Recording& recording, const DeviceSpec& device,
                              const profile::LoopOptions& loop);

/// A call that has the peak at some sizes, and the formula of the bytes held during it.
struct PeakMoment {
  CallId call = none;
  Formula formula;
};

/// The moments whose maximum is the peak at all of `known`, which `measure` extends when more sizes
/// are needed. Empty if a single moment suffices, or if a formula is missing.
std::vector<PeakMoment> find_peak_moments(const std::vector<Variable>& variables,
                                          const std::map<Sizes, BytesByCall>& known,
                                          const std::function<void(const Sizes&)>& measure);

}  // namespace symprof::plan
