// Selective checkpoint plans against PyTorch, which executed every plan of three models (fields:
// truth/plans/torch_plans.py).
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/regions.h"
#include "tests/shape/planned_steps.h"

namespace symprof::checkpoint_plans_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::CountedStep;
using test::recompute_cost;
using test::some_plan;
const fs::path folder = test::plans_folder();

json truth() {
  std::ifstream file(folder / "torch_plans.json");
  return json::parse(file);
}

/// Omits regions that are null in the file: they run without a checkpoint.
CheckpointPlan plan_of(const json& regions) {
  CheckpointPlan plan;
  for (const auto& [module, kept] : regions.items()) {
    if (kept.is_null()) continue;
    CheckpointRegion& region = plan.regions.emplace_back();
    region.modules = {module};
    for (const json& call : kept)
      region.kept.push_back({"aten::" + call.at(0).get<std::string>(), call.at(1).get<int>()});
  }
  return plan;
}

std::vector<std::string> regions_of(const json& model) {
  std::vector<std::string> regions;
  for (const auto& [region, calls] : model.at("regions").items()) regions.push_back(region);
  return regions;
}

}  // namespace

TEST_SUITE("checkpoint_plans") {
  TEST_CASE("peaks and recomputed calls of plans match PyTorch") {
    int plans = 0;
    for (const json& model : truth()) {
      CAPTURE(model.at("model"));
      CountedStep step(model);
      for (const json& sample : model.at("sample")) {
        CAPTURE(sample.dump());
        const Recording recording = step.record(plan_of(sample.at("plan")));
        CHECK(step.peaks(recording).allocated_bytes == sample.at("peak").get<std::int64_t>());
        CHECK(recompute_cost(step, recording) == sample.at("time").get<double>());
        ++plans;
      }
    }
    CHECK(plans == 450);
  }

  TEST_CASE("plans and bounds match the exact frontier over all plans of the models") {
    int points = 0;
    for (const json& model : truth()) {
      CAPTURE(model.at("model"));
      CountedStep step(model);
      plan::CheckpointPlanner planner(step, regions_of(model));
      for (const json& point : model.at("frontier")) {
        CAPTURE(point.dump());
        const auto budget = point.at("peak").get<std::int64_t>();
        const plan::PlanAnswer answer = planner.answer(budget);
        REQUIRE(answer.best);
        REQUIRE(answer.least_cost_us);
        CHECK(answer.best->peaks.reserved_bytes <= budget);
        CHECK(answer.best->cost_us == point.at("time").get<double>());
        CHECK(*answer.least_cost_us <= point.at("time").get<double>());
        CHECK(*answer.least_cost_us == doctest::Approx(point.at("time").get<double>()));
        CHECK(planner.answer(budget + 512).best->cost_us <= answer.best->cost_us);
        ++points;
      }
      const auto least = model.at("frontier")[0].at("peak").get<std::int64_t>();
      CHECK(planner.least_window()->bytes == least);
      CHECK_FALSE(planner.answer(least - 1).best);
      CHECK(planner.answer(least - 1).is_impossible);
    }
    CHECK(points == 20);
  }

  TEST_CASE("no plan executed by PyTorch is below the lower bound") {
    for (const json& model : truth()) {
      CAPTURE(model.at("model"));
      CountedStep step(model);
      plan::CheckpointPlanner planner(step, regions_of(model));
      for (const json& sample : model.at("sample")) {
        CAPTURE(sample.dump());
        const plan::PlanAnswer known = planner.known_answer(sample.at("peak").get<std::int64_t>());
        REQUIRE(known.least_cost_us);
        CHECK(*known.least_cost_us <= sample.at("time").get<double>());
      }
    }
  }

  TEST_CASE("for larger models no plan is below the lower bound, and some reach it") {
    for (const char* model : {"gpt2", "bert_base", "vit_b_16", "resnet50"}) {
      CAPTURE(model);
      CountedStep step(fs::path(test::source_folder()) / "models" / (std::string(model) + ".pt2"),
                       {{"addmm", 64}, {"mm", 64}, {"convolution", 8}}, 1);
      plan::CheckpointPlanner planner(step, plan::regions_of(step.graph(), {}));
      std::mt19937 random(7);
      for (int i = 0; i < 25; ++i) {
        const Recording recording = step.record(some_plan(planner.selector().costs(), random));
        const plan::PlanAnswer known = planner.known_answer(step.peaks(recording).allocated_bytes);
        REQUIRE(known.least_cost_us);
        CHECK(*known.least_cost_us <= recompute_cost(step, recording));
      }
      const std::int64_t plain = planner.plain().peaks.allocated_bytes,
                         all = planner.all_again().peaks.allocated_bytes;
      REQUIRE(planner.least_window());
      CHECK(planner.least_window()->bytes == all);
      for (int i = 0; i < 6; ++i) {
        const plan::PlanAnswer answer = planner.answer(all + (plain - all) * i / 6);
        CAPTURE(answer.budget_bytes);
        REQUIRE(answer.best);
        REQUIRE(answer.least_cost_us);
        CHECK(*answer.least_cost_us > 0);
        CHECK(answer.best->cost_us - *answer.least_cost_us <= 0.005 * planner.all_again().cost_us);
      }
    }
  }

  TEST_CASE("plans that merge modules are returned only if merging is allowed") {
    CountedStep step(fs::path(test::source_folder()) / "models" / "gpt2.pt2", {{"addmm", 64}}, 1);
    const std::vector<std::string> modules = plan::regions_of(step.graph(), {});
    for (const bool joins : {true, false}) {
      CAPTURE(joins);
      plan::CheckpointPlanner planner(step, modules, {.joins_modules = joins});
      CheckpointPlan two;
      two.regions.push_back({.modules = {modules[0], modules[1]}});
      const plan::SimulatedPlan simulated = planner.play(two);
      REQUIRE(simulated.cost_us < planner.all_again().cost_us);
      const plan::PlanAnswer answer = planner.known_answer(simulated.peaks.reserved_bytes);
      REQUIRE(answer.best);
      const bool is_joined = std::ranges::any_of(
          answer.best->plan.regions,
          [](const CheckpointRegion& region) { return region.modules.size() > 1; });
      CHECK(is_joined == joins);
    }
  }

  TEST_CASE("a plan of another model is refused") {
    CountedStep step(truth()[0]);
    CHECK_THROWS_WITH_AS(step.record({.regions = {{{"a"}, {{"aten::addmm", 7}}}}}),
                         doctest::Contains("makes no call aten::addmm#7"), Error);
    CHECK_THROWS_WITH_AS(step.record({.regions = {{{"a"}, {}}, {{"a"}, {}}}}),
                         doctest::Contains("the plan has a twice"), Error);
  }
}

}  // namespace symprof::checkpoint_plans_test
