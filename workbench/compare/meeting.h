// Compares paired values of two runs while both run.
#pragma once

#include <cstddef>
#include <vector>

#include "workbench/compare/difference.h"
#include "workbench/compare/side.h"

namespace symprof::workbench {

/// Two values to compare.
struct ValuePair {
  ValueId a = no_value, b = no_value;
  ValueDifference difference;
  bool is_compared = false;
};

/// Runs both sides concurrently, each in a thread, and fills the differences of `pairs`. A value of
/// A waits for its partner, and B waits until A has computed its value. At most `held_bytes` are
/// held: then A waits too, and where that would be a deadlock, the value is dropped, and its pair
/// is compared in another run of both sides. So memory is that of two runs and `held_bytes` (or of
/// one value, if a single one is larger). Throws what the runners throw.
void compare_values(const Side& a, const ValueRunner& runner_a, const Side& b,
                    const ValueRunner& runner_b, double tolerance, std::size_t held_bytes,
                    std::vector<ValuePair>& pairs);

}  // namespace symprof::workbench
