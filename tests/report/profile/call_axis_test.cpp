#include "report/profile/call_axis.h"

#include <doctest/doctest.h>

#include "tests/support/recording_builder.h"

namespace symprof::test {
namespace {

using report::CallAxis;

Recording calls_of(const std::vector<std::pair<Phase, int>>& phases) {
  RecordingBuilder builder;
  const NodeId node = builder.node("node");
  for (const auto& [phase, count] : phases)
    for (int i = 0; i < count; ++i) builder.call("aten::relu", {}, {}, node, phase);
  return builder.recording();
}

}  // namespace

TEST_SUITE("call_axis") {
  TEST_CASE("a phase of few calls has a least width, the others share the rest by their calls") {
    const Recording recording = calls_of({{Phase::forward, 300},
                                          {Phase::loss, 1},
                                          {Phase::backward, 599},
                                          {Phase::recompute, 100},
                                          {Phase::optimizer, 4}});
    const CallAxis axis(recording, 50, 1000);
    REQUIRE(axis.stretches().size() == 3);
    const CallAxis::Stretch &forward = axis.stretches()[0], &backward = axis.stretches()[1],
                            &optimizer = axis.stretches()[2];
    CHECK(backward.phase == Phase::backward);
    CHECK(backward.first == 300);  // The loss.
    CHECK(backward.end == 1000);
    CHECK(optimizer.width > 20 * 1000.0 * 4 / 1004);
    CHECK(forward.x == 50);
    CHECK(optimizer.x + optimizer.width == doctest::Approx(1050));
    CHECK(backward.width / forward.width == doctest::Approx(700.0 / 300));
    CHECK(axis.x_of(0) == 50);
    CHECK(axis.x_of(650) == doctest::Approx(backward.x + backward.width / 2));
    CHECK(axis.x_of(1002) == doctest::Approx(optimizer.x + optimizer.width / 2));
  }

  TEST_CASE("a single phase has the full width, and no calls have none") {
    const Recording inference = calls_of({{Phase::forward, 2}});
    const CallAxis axis(inference, 10, 100);
    CHECK(axis.x_of(1) == doctest::Approx(60));
    CHECK(CallAxis(calls_of({}), 10, 100).stretches().empty());
  }
}

}  // namespace symprof::test
