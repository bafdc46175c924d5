// The time a plan costs beyond its recomputed calls, where the step waits for the host.
#pragma once

#include <algorithm>
#include <cstddef>

#include "plan/checkpoint/trial.h"

namespace symprof::plan {

/// Microseconds beyond `again_us`, the cost of all recomputed calls, for a plan whose host issues
/// calls for `issue_us` longer and evaluates policies for `calls_with_policy` calls.
inline double host_wait_us(const HostCosts& host, double again_us, double issue_us,
                           std::size_t calls_with_policy) {
  const double policies_us = host.policy_us * static_cast<double>(calls_with_policy);
  return std::max(issue_us + policies_us - host.slack_us - again_us, 0.0);
}

}  // namespace symprof::plan
