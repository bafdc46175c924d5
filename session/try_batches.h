// Batches that are tried one by one, up to the largest that fits a device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/device_spec.h"
#include "session/throughput_answer.h"

namespace symprof {

/// Empty: the batch does not fit. Where it does not run, `found.refusal` says why.
using TryBatch = std::function<std::optional<ThroughputAnswer::Row>(
    std::int64_t batch, ThroughputAnswer::OfDevice& found)>;

/// The batches from `start` on that plan::find_largest_size tries.
ThroughputAnswer::OfDevice try_batches(const DeviceSpec& device, std::int64_t start,
                                       const TryBatch& try_batch);

}  // namespace symprof
