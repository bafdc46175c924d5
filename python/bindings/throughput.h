// The batch with the most samples per second, of a program that runs anew for each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "python/bindings/plans.h"

namespace symprof::python {

/// Runs a device's step with a batch, with times; empty: the program does not run with it.
using RunBatch =
    std::function<std::optional<ProfileHandle>(const std::string& device, std::int64_t batch)>;

/// Tries batches from `start` on, each without a checkpoint plan. `budget` may be empty. Throws
/// Error as find_device and budget_of do.
ThroughputHandle throughput_of(const std::vector<std::string>& devices, const std::string& budget,
                               std::int64_t start, const RunBatch& run);

}  // namespace symprof::python
