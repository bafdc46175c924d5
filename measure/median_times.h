// The middle of the times of several steps.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/measurement.h"

namespace symprof::measure {

/// Of an even count the mean of the two in the middle, rounded down; 0 of none.
std::int64_t median(std::vector<std::int64_t> values);
/// Of each pass for itself.
Times median_of(const std::vector<Times>& steps);
/// By NodeId, of steps by NodeId.
std::vector<Times> median_times(const std::vector<std::vector<Times>>& steps);

}  // namespace symprof::measure
