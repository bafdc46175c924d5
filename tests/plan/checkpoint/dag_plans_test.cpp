// Plans of small training graphs against the exact optimum, in the space of torch.utils.checkpoint
// and in that of Checkmate, where any node may be recomputed at any time:
// truth/plans/dag_oracle.py.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "plan/checkpoint/planner.h"
#include "tests/plan/checkpoint/region_step.h"
#include "tests/support/source_folder.h"

namespace symprof::dag_plans_test {
namespace {

using nlohmann::json;

/// Every way to cut the forward nodes into contiguous regions: by node, its region.
std::vector<std::vector<std::size_t>> all_cuts(std::size_t nodes) {
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t cuts = 0; cuts < std::size_t{1} << (nodes - 1); ++cuts) {
    std::vector<std::size_t>& regions = all.emplace_back(1, 0);
    for (std::size_t node = 1; node < nodes; ++node)
      regions.push_back(regions.back() + (cuts >> (node - 1) & 1));
  }
  return all;
}

/// By answer of the file: the least time over all cuts; empty where no plan fits the budget.
std::vector<std::optional<double>> planned(const test::TrainingGraph& graph, const json& answers) {
  std::vector<std::optional<double>> least(answers.size());
  for (const std::vector<std::size_t>& regions : all_cuts(graph.forward)) {
    test::RegionStep step(graph, regions);
    plan::CheckpointPlanner planner(step, step.modules());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::int64_t budget = 512 * answers[i].at("budget").get<std::int64_t>();
      const plan::PlanAnswer answer = planner.answer(budget);
      if (answer.best && (!least[i] || answer.best->cost_us < *least[i]))
        least[i] = answer.best->cost_us;
      // No plan of these regions beats the bound.
      if (answer.best && answer.least_cost_us) CHECK(*answer.least_cost_us <= answer.best->cost_us);
      if (answer.is_impossible) CHECK_FALSE(answer.best);
    }
  }
  return least;
}

/// Checks that every plan of every graph costs at least its bound. Returns the number of plans.
std::size_t plans_above_bound(double policy_us) {
  std::ifstream file(test::source_folder() + "/truth/plans/dag_oracle.json");
  std::size_t plans = 0;
  for (const json& one : json::parse(file)) {
    const test::TrainingGraph graph(one);
    for (const std::vector<std::size_t>& regions : all_cuts(graph.forward)) {
      CAPTURE(one.dump());
      CAPTURE(json(regions).dump());
      test::RegionStep step(graph, regions, policy_us);
      plan::CheckpointPlanner planner(step, step.modules());
      for (const CheckpointPlan& plan : test::all_plans(regions)) {
        const Recording recording = step.record(plan);
        const double cost = step.cost_us(plan, recording);
        const plan::PlanAnswer known = planner.known_answer(step.peaks(recording).reserved_bytes);
        REQUIRE(known.least_cost_us);
        CHECK(*known.least_cost_us <= cost);
        CHECK(planner.play(plan).cost_us == doctest::Approx(cost));
        ++plans;
      }
    }
  }
  return plans;
}

}  // namespace

TEST_SUITE("dag_plans") {
  TEST_CASE("plans of 24 graphs reach the optimum over regions, mostly over schedules") {
    std::ifstream file(test::source_folder() + "/truth/plans/dag_oracle.json");
    int answers = 0, as_good_as_any = 0;
    for (const json& one : json::parse(file)) {
      const test::TrainingGraph graph(one);
      const auto without = one.at("without_recompute").get<double>();
      const std::vector<std::optional<double>> least = planned(graph, one.at("answers"));
      for (std::size_t i = 0; i < least.size(); ++i) {
        const json& answer = one.at("answers")[i];
        CAPTURE(answer.dump());
        ++answers;
        REQUIRE(least[i].has_value() == !answer.at("of_regions").is_null());
        if (least[i]) CHECK(without + *least[i] == answer.at("of_regions").get<double>());
        as_good_as_any += answer.at("of_regions") == answer.at("optimum");
      }
    }
    CHECK(answers == 122);
    CHECK(as_good_as_any == 113);
  }

  TEST_CASE("no plan beats the lower bound") { CHECK(plans_above_bound(0) > 10'000); }

  TEST_CASE("no plan beats the bound of a step that waits for policies") {
    CHECK(plans_above_bound(0.5) > 10'000);
  }
}

}  // namespace symprof::dag_plans_test
