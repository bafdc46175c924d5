// Calls without a rule: a figure that would sum them is unknown, or at least what is known.
//
// Public header.
#pragma once

#include <cstdint>

#include "profile/figures.h"
#include "profile/profile.h"

namespace symprof::report {

/// A row's calls without a rule: with any of them its FLOPs are unknown.
struct UnmodelledCalls {
  std::int64_t forward = 0;  ///< And loss.
  std::int64_t backward = 0;
  std::int64_t optimizer = 0;

  UnmodelledCalls& operator+=(const UnmodelledCalls& other) {
    forward += other.forward;
    backward += other.backward;
    optimizer += other.optimizer;
    return *this;
  }
};

/// Counts the calls of `node` that have no rule.
UnmodelledCalls unmodelled_calls(const NodeProfile& node, const Recording& recording);

/// Calls without a rule that a figure lacks.
std::int64_t unmodelled(const UnmodelledCalls& calls, const profile::Figure& figure);

}  // namespace symprof::report
