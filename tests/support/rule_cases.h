// One call and what its rule counts.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {

/// Sizes of small matrices, no product of two of which is that of two others.
inline constexpr std::int64_t M = 3, K = 5, N = 7, B = 2;

struct RuleCase {
  const char* op;
  std::vector<TestArgument> arguments;
  std::vector<TensorSpec> outputs;
  std::int64_t product_flops = 0;
  std::int64_t other_flops = 0;
};

/// Fails where there is no rule, or none that covers the call.
Cost cost_of(const RuleCase& test);

/// The rule of each gives the FLOPs that it says.
void check(const std::vector<RuleCase>& cases);

}  // namespace symprof::test
