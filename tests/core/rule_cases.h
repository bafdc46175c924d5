// One call and what its rule counts.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "recording_builder.h"

namespace symprof::test {

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
