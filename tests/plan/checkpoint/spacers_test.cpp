// Plans that hold their budget with spacers alone, which cost the host something.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "plan/checkpoint/planner.h"
#include "tests/plan/checkpoint/region_step.h"
#include "tests/support/source_folder.h"

namespace symprof::plan_spacers_test {
namespace {

constexpr double spacer_us = 0.125;
constexpr std::int64_t unfilled_bytes = 4096;
constexpr std::size_t fewest_spacers = 2;

/// The allocator leaves something unfilled, but where it has at least two spacers.
class SpacedStep : public test::RegionStep {
 public:
  SpacedStep(const test::TrainingGraph& graph, const std::vector<std::size_t>& regions,
             double slack_us)
      : RegionStep(graph, regions), slack_us_(slack_us) {}

  plan::StepPeaks peaks(const Recording& recording) override {
    plan::StepPeaks peaks = RegionStep::peaks(recording);
    peaks.reserved_bytes += unfilled_bytes;
    return peaks;
  }

  plan::HostCosts host_costs(const Recording& recording) override {
    return {.us = costs_us(recording), .spacer_us = spacer_us, .slack_us = slack_us_};
  }

  std::optional<plan::ReservedStep> reserve_with_spacers(const Recording& recording,
                                                         std::int64_t bytes,
                                                         std::size_t most_spacers,
                                                         std::ptrdiff_t& most_requests) override {
    --most_requests;
    const plan::StepPeaks filled = RegionStep::peaks(recording);
    if (filled.reserved_bytes > bytes || most_spacers < fewest_spacers) return std::nullopt;
    return plan::ReservedStep{
        {bytes}, filled, true, std::vector<profile::Spacer>(most_spacers, {2 << 20, "0", "1"})};
  }

 private:
  double slack_us_;
};

}  // namespace

TEST_SUITE("plan_spacers") {
  TEST_CASE("a plan with spacers costs what they take of a host that the step waits for") {
    std::ifstream file(test::source_folder() + "/truth/plans/dag_oracle.json");
    const test::TrainingGraph graph(nlohmann::json::parse(file).front());
    std::vector<std::size_t> regions;
    for (std::size_t node = 0; node < graph.forward; ++node) regions.push_back(node / 2);
    const double step_us = std::accumulate(graph.time.begin(), graph.time.end(), 0.0);
    for (const double slack_us : {0.0, 1e9}) {
      CAPTURE(slack_us);
      SpacedStep step(graph, regions, slack_us);
      plan::CheckpointPlanner planner(step, step.modules(), {.step_us = step_us});
      const CheckpointPlan plan = planner.all_again().plan;
      const double again_us = planner.all_again().cost_us;
      const std::int64_t budget = planner.all_again().peaks.allocated_bytes;
      CHECK_FALSE(planner.best_played(budget));
      std::ptrdiff_t most_requests = 10;
      for (const std::size_t spacers : {std::size_t{4}, fewest_spacers}) {
        CHECK(planner.play_with_spacers(plan, budget, spacers, most_requests));
        const plan::PlayedPlan* best = planner.best_played(budget);
        REQUIRE(best);
        CHECK(best->cost_us ==
              doctest::Approx(again_us + (slack_us > 0 ? 0 : spacer_us * double(spacers))));
        CHECK(best->peaks.reserved_bytes == budget);
        if (slack_us == 0) CHECK(best->spacers.size() == spacers);
      }
      CHECK_FALSE(planner.play_with_spacers(plan, budget, fewest_spacers - 1, most_requests));
      CHECK_FALSE(planner.play_with_spacers({}, budget, 4, most_requests));
      CHECK(most_requests == 10 - 4);
    }
  }
}

}  // namespace symprof::plan_spacers_test
