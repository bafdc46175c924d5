// What a fusion that broke costs: the layers that would have been one, and what that one needs.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "engine/causes.h"
#include "engine/costs.h"

namespace symprof::engine {

/// Fills `partners`, `group_ms` and, where `costs` are given, `ideal_ms` of each cause. A layer's
/// partner makes what it reads, or, of one that dequantises, reads what it makes. One kernel for
/// both needs the larger of what the bytes take that enter and leave the two, at the bandwidth of
/// `device`, and of what `costs` says that the partner's FLOPs take. What one of the two writes for
/// the other alone does not count, nor what a partner writes for a quantizer or a reformat of the
/// group. `device` and `costs` may be null.
void add_ideal_times(const Engine& engine, const EngineSummary& summary, const DeviceSpec* device,
                     const EngineCosts* costs, std::vector<Cause>& causes);

}  // namespace symprof::engine
