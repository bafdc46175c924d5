// One call and what its rule counts.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {

/// Sizes of small matrices: different pairs of them have different products.
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

/// Checks that the rule of each case's operator gives the FLOPs that the case says.
void check(const std::vector<RuleCase>& cases);

}  // namespace symprof::test
