// Step times of pipelines, against formulas for equal stages.
#include "profile/pipeline_time.h"

#include <doctest/doctest.h>

#include "profile/step_time.h"

using namespace symprof;
using namespace symprof::profile;

namespace {

/// One stage of each rank.
std::vector<RankPasses> equal_ranks(int count, double forward_us, double backward_us) {
  std::vector<RankPasses> ranks(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    ranks[static_cast<std::size_t>(i)].stages[i] = {forward_us, backward_us};
  return ranks;
}

}  // namespace

TEST_SUITE("pipeline_time") {
  TEST_CASE("equal stages are idle while the pipeline fills and drains") {
    const double forward = 3, backward = 6;
    const int stages = 4, microbatches = 12;
    for (const PipelineKind kind : {PipelineKind::gpipe, PipelineKind::one_f_one_b}) {
      const PipelineTime time = pipeline_time({kind, stages, 1, microbatches},
                                              equal_ranks(stages, forward, backward), 1, 0);
      CHECK(time.makespan_us == (microbatches + stages - 1) * (forward + backward));
      CHECK(time.idle_us == (stages - 1) * (forward + backward));
      CHECK(time.bubble == doctest::Approx((stages - 1.0) / (microbatches + stages - 1)));
    }
  }

  TEST_CASE("messages of the first and last microbatch are exposed") {
    const int stages = 3, microbatches = 8;
    const double transfer = 2;
    const PipelineTime time = pipeline_time({PipelineKind::gpipe, stages, 1, microbatches},
                                            equal_ranks(stages, 5, 10), 0, transfer);
    CHECK(time.makespan_us == (microbatches + stages - 1) * 15 + 2 * (stages - 1) * transfer);
    CHECK(time.transfer_us == transfer);
  }

  TEST_CASE("the slowest stage sets the pace") {
    std::vector<RankPasses> ranks = equal_ranks(2, 1, 1);
    ranks[1].stages[1] = {10, 20};
    const int microbatches = 16;
    const PipelineTime time =
        pipeline_time({PipelineKind::one_f_one_b, 2, 1, microbatches}, ranks, 1, 0);
    CHECK(time.makespan_us == 1 + microbatches * 30 + 1);
    CHECK(time.idle_us == 2);
  }

  TEST_CASE("passes are means over microbatches, and the rest is outside of passes") {
    // Six calls, one after the other, in the first of a loop's steps.
    StepLoad load{.step_us = 23};
    for (const double end_us : {2, 5, 9, 14, 20, 21})
      load.schedule.push_back({.begin_us = end_us - 1, .end_us = end_us});
    const RankPasses passes =
        passes_of({{0, false, 0, 0}, {0, false, 1, 1}, {0, true, 2, 3}, {0, true, 4, 4}}, load);
    REQUIRE(passes.stages.size() == 1);
    CHECK(passes.stages.at(0).forward_us == doctest::Approx((2 + 3) / 2.0));
    CHECK(passes.stages.at(0).backward_us == doctest::Approx((9 + 6) / 2.0));
    CHECK(passes.rest_us == 23 - 20);
  }
}
