// The cost of a failed fusion: the layers that would be one, and its roofline bound.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "engine/causes.h"
#include "engine/costs.h"

namespace symprof::engine {

/// Fills `partners`, `group_ms` and, with `costs`, `ideal_ms` of each cause. A layer's partner is
/// its producer, or the consumer of a dequantizer. The bound of the fused kernel is the larger of
/// its external bytes at the bandwidth of `device` and of the time of the partner's FLOPs in
/// `costs`. Tensors between the two do not count, nor what a partner writes for a quantizer or a
/// reformat of the group. `device` and `costs` may be null.
void add_ideal_times(const Engine& engine, const EngineSummary& summary, const DeviceSpec* device,
                     const EngineCosts* costs, std::vector<Cause>& causes);

}  // namespace symprof::engine
