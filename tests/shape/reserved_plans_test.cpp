// Reserved memory of plans on the simulated allocator, against lower bounds and synthesized steps.
#include <doctest/doctest.h>

#include <filesystem>

#include "plan/checkpoint/composed_step.h"
#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/regions.h"
#include "profile/memory/peak_uncertainty.h"
#include "profile/policy_calls.h"
#include "tests/shape/planned_steps.h"

namespace symprof::reserved_plans_test {
namespace {

namespace fs = std::filesystem;
using test::all_of;
using test::least_reserved;
using test::recompute_cost;
using test::ReservedStep;
using test::some_plan;
const fs::path folder = test::plans_folder();

}  // namespace

TEST_SUITE("reserved_plans") {
  TEST_CASE("no plan reserves less than the lower bound of both pools, for any amount up front") {
    const fs::path root = test::source_folder();
    for (const fs::path& path :
         {folder / "models/narrow_decoder.pt2", root / "models/resnet50.pt2",
          root / "models/vit_b_16.pt2", root / "tests/zoo/models/vit_b_32.pt2",
          root / "tests/zoo/models/shufflenet_v2_x1_0.pt2", root / "tests/zoo/models/r3d_18.pt2",
          root / "tests/zoo/models/mobilenet_v3_large.pt2"}) {
      CAPTURE(path);
      ReservedStep step(path);
      plan::CheckpointPlanner planner(step, plan::regions_of(step.graph(), {}));
      REQUIRE(planner.least_window());
      std::mt19937 random(11);
      for (int i = 0; i < 12; ++i) {
        const Recording recording = step.record(some_plan(planner.selector().costs(), random));
        const std::int64_t reserved = least_reserved(step, recording);
        CHECK(reserved <= step.peaks(recording).reserved_bytes);
        CHECK(planner.least_window()->bytes <= reserved);
        const plan::PlanAnswer known = planner.known_answer(reserved);
        REQUIRE(known.least_cost_us);
        CHECK(*known.least_cost_us <= recompute_cost(step.counted(), recording));
      }
    }
  }

  TEST_CASE("the lower bound of both pools is tight for a narrow decoder") {
    ReservedStep step(folder / "models/narrow_decoder.pt2");
    plan::CheckpointPlanner planner(step, plan::regions_of(step.graph(), {}));
    // Its optimizer uses parameters below 1 MiB, its layers activations above.
    const plan::Window least = *planner.least_window();
    CHECK(least.other_pool_bytes > 0);
    const std::int64_t reserved = planner.all_again().peaks.reserved_bytes;
    CHECK(least.bytes <= reserved);
    CHECK(least.bytes > 0.98 * static_cast<double>(reserved));
    CHECK(reserved > 1.1 * static_cast<double>(planner.all_again().peaks.allocated_bytes));
  }

  TEST_CASE("a synthesized step has the memory and cost of the recorded step") {
    const fs::path root = test::source_folder();
    // mvit_v2_s' file leaves some lifetimes of its plain step uncertain, and swin_t's code has
    // literals for its masks.
    for (const char* model :
         {"models/gpt2.pt2", "models/bert_base.pt2", "models/vit_b_16.pt2", "models/resnet50.pt2",
          "tests/zoo/models/mvit_v2_s.pt2", "tests/zoo/models/swin_t.pt2"}) {
      CAPTURE(model);
      ReservedStep step(root / model);
      std::vector<std::string> modules = plan::regions_of(step.graph(), {});
      // mvit_v2_s' head saves a tensor that is later modified in place, so the head cannot be
      // recomputed.
      std::erase(modules, "head");
      const Recording plain = step.record({}), again = step.record(all_of(modules));
      const plan::StepCosts costs =
          plan::costs_of_step(plain, again, modules, step.held_bytes(plain), step.costs_us(again));
      const Recording even = step.record(plan::every_second(costs, 0)),
                      odd = step.record(plan::every_second(costs, 1));
      const plan::SharedSteps steps(costs, {plain, again, even, odd}, modules);
      REQUIRE(steps.are_alike());
      // A host-bound step.
      constexpr double policy_us = 5;
      const std::vector<double> costs_us = step.costs_us(again);
      plan::ComposedStep composed(steps, costs_us,
                                  {.us = costs_us, .policy_us = policy_us, .slack_us = 0});
      std::mt19937 random(5);
      for (int i = 0; i < 20; ++i) {
        const CheckpointPlan plan = i == 0 ? CheckpointPlan{} : some_plan(costs, random);
        const Recording recorded = step.record(plan);
        const Recording& other = composed.compose(plan);
        const plan::StepPeaks peaks = step.peaks(recorded), others = step.peaks(other);
        CHECK(others.allocated_bytes == peaks.allocated_bytes);
        CHECK(others.reserved_bytes == peaks.reserved_bytes);
        CHECK(profile::peak_uncertainty(other).bytes == profile::peak_uncertainty(recorded).bytes);
        const auto asked = static_cast<double>(
            std::ranges::count(profile::calls_with_policy(recorded, plan), true));
        CHECK(composed.cost_us() ==
              doctest::Approx(recompute_cost(step.counted(), recorded) + policy_us * asked));
      }
    }
  }
}

}  // namespace symprof::reserved_plans_test
