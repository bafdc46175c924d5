// What of a device's memory a loop may use, in words.
#pragma once

#include <cstdint>
#include <string>

#include "plan/fit.h"

namespace symprof::report {

/// "1.00 GiB set aside for CUDA's context (not measured; --context sets it)".
std::string context_text(const plan::Budget& budget);

/// "38.39 GiB of 39.39 GiB; 1.00 GiB set aside …", and what is set aside for a peak that is a lower
/// bound.
std::string budget_text(const plan::Budget& budget, std::int64_t set_aside_bytes);

}  // namespace symprof::report
