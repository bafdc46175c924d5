// Values of two runs that belong together, compared while both run.
#pragma once

#include <cstddef>
#include <vector>

#include "workbench/compare/difference.h"
#include "workbench/compare/side.h"

namespace symprof::workbench {

/// Two values to be compared.
struct ValuePair {
  ValueId a = no_value, b = no_value;
  ValueDifference difference;
  bool is_compared = false;
};

/// Runs both sides at once, each in a thread of its own, and fills the differences of `pairs`. A
/// value of A waits for its twin, one of B until A has made its own. More than `held_bytes` never
/// wait: then A waits too, and where that would stop both, the value goes, and its pair is compared
/// when both sides run once more. So memory is that of two runs and `held_bytes` (or one value,
/// where a single one is larger). Throws what the runners throw.
void compare_values(const Side& a, const ValueRunner& runner_a, const Side& b,
                    const ValueRunner& runner_b, double tolerance, std::size_t held_bytes,
                    std::vector<ValuePair>& pairs);

}  // namespace symprof::workbench
