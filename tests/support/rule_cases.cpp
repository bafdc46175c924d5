#include "tests/support/rule_cases.h"

#include <doctest/doctest.h>

#include "profile/operators/operators.h"

namespace symprof::test {

Cost cost_of(const RuleCase& test) {
  RecordingBuilder builder;
  builder.node("node");
  builder.call(test.op, test.arguments, test.outputs);
  const profile::Rule* rule = profile::find_operator(test.op).flops;
  REQUIRE_MESSAGE(rule, test.op);
  const auto& recording = builder.recording();
  const auto estimate = rule->estimate(profile::Call(recording, recording.calls.front()));
  REQUIRE_MESSAGE(estimate.has_value(), test.op);
  return *estimate;
}

void check(const std::vector<RuleCase>& cases) {
  for (const RuleCase& test : cases) {
    CAPTURE(test.op);
    const Cost cost = cost_of(test);
    CHECK(cost.product_flops == test.product_flops);
    CHECK(cost.other_flops == test.other_flops);
  }
}

}  // namespace symprof::test
