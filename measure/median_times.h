// Medians of times over several steps.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/measurement.h"

namespace symprof::measure {

/// The median; for an even count the mean of the middle two, rounded down; 0 without values.
std::int64_t median(std::vector<std::int64_t> values);
/// The median of each pass separately.
Times median_of(const std::vector<Times>& steps);
/// By NodeId, of steps by NodeId.
std::vector<Times> median_times(const std::vector<std::vector<Times>>& steps);

}  // namespace symprof::measure
