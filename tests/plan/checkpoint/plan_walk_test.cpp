// Walks over plans of small training graphs, few enough to enumerate them.
#include "plan/checkpoint/plan_walk.h"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tests/plan/checkpoint/region_step.h"
#include "tests/support/source_folder.h"

namespace symprof::plan_walk_test {
namespace {

using nlohmann::json;

/// A graph of the file, cut into regions of two nodes, and all its plans.
class SmallStep {
 public:
  explicit SmallStep(const json& graph) : graph_(graph) {
    for (std::size_t node = 0; node < graph_.forward; ++node) regions_.push_back(node / 2);
    for (const CheckpointPlan& plan : test::all_plans(regions_)) {
      const Recording recording = step_.record(plan);
      plans_.emplace_back(step_.peaks(recording).reserved_bytes, step_.recompute_us(recording));
    }
  }

  /// Each budget that a plan fits and that no plan fits with less.
  std::set<std::int64_t> budgets() const {
    std::set<std::int64_t> budgets;
    for (const auto& [bytes, cost_us] : plans_) budgets.insert(bytes);
    return budgets;
  }

  double least_us(std::int64_t budget_bytes) const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [bytes, cost_us] : plans_)
      if (bytes <= budget_bytes) least = std::min(least, cost_us);
    return least;
  }

  /// A planner that knows only the fully checkpointed plan and the plain one.
  std::unique_ptr<plan::CheckpointPlanner> planner() {
    return std::make_unique<plan::CheckpointPlanner>(
        step_, step_.modules(),
        plan::PlannerOptions{.step_us =
                                 std::accumulate(graph_.time.begin(), graph_.time.end(), 0.0)});
  }

  std::int64_t reserved(const CheckpointPlan& plan) {
    return step_.peaks(step_.record(plan)).reserved_bytes;
  }

 private:
  test::TrainingGraph graph_;
  std::vector<std::size_t> regions_;
  test::RegionStep step_{graph_, regions_};
  std::vector<std::pair<std::int64_t, double>> plans_;  // Bytes and costs.
};

}  // namespace

TEST_SUITE("plan_walk") {
  TEST_CASE("a walk reaches the optimum, and is deterministic") {
    std::ifstream file(test::source_folder() + "/truth/plans/dag_oracle.json");
    int walks = 0, made_better = 0;
    for (const json& graph : json::parse(file)) {
      SmallStep step(graph);
      for (const std::int64_t budget : step.budgets()) {
        CAPTURE(graph.dump());
        CAPTURE(budget);
        const auto planner = step.planner(), other = step.planner();
        const std::optional<plan::TriedPlan> before = planner->best_tried(budget);
        if (!before || before->cost_us == 0) continue;
        const double before_us = before->cost_us;
        plan::PlanWalk(*planner, budget).run();
        plan::PlanWalk(*other, budget).run();
        const plan::PlanAnswer found = planner->known_answer(budget);
        REQUIRE(found.best);
        CHECK(found.best->cost_us == step.least_us(budget));
        CHECK(step.reserved(found.best->plan) <= budget);
        CHECK(other->known_answer(budget).best->plan == found.best->plan);
        CHECK(other->plans_tried() == planner->plans_tried());
        ++walks;
        made_better += found.best->cost_us < before_us;
      }
    }
    CHECK(walks == 26);
    // One more if the two half-checkpointed recordings alternate regions. choose_sides() chooses
    // them by producers and consumers instead, and both are tried on the composed step first; in
    // one graph that already is the best plan.
    CHECK(made_better == 10);
  }

  TEST_CASE("a walk without an initial plan does nothing") {
    std::ifstream file(test::source_folder() + "/truth/plans/dag_oracle.json");
    SmallStep step(json::parse(file)[0]);
    const auto planner = step.planner();
    const std::size_t tried = planner->plans_tried();
    plan::PlanWalk(*planner, *step.budgets().begin() - 1).run();
    CHECK(planner->plans_tried() == tried);
    CHECK_FALSE(planner->best_tried(*step.budgets().begin() - 1));
  }
}

}  // namespace symprof::plan_walk_test
