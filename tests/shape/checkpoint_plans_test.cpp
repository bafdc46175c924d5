// Selective checkpoint plans against PyTorch, which carried out every plan of three models:
// truth/plans/torch_plans.py says what its fields mean.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/rounding.h"
#include "plan/checkpoint/composed_step.h"
#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/regions.h"
#include "profile/memory/pool_bytes.h"
#include "profile/policy_calls.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"

namespace symprof::checkpoint_plans_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
const fs::path folder = fs::path(test::source_folder()) / "truth/plans";

json truth() {
  std::ifstream file(folder / "torch_plans.json");
  return json::parse(file);
}

/// Of a region that is null in the file, as it runs without a checkpoint, there is none.
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

/// The step that PyTorch ran, counted as it counts it: tensors in blocks of 512 bytes, without
/// parameters, the input, and the output of the step before; made-up costs by operator.
class CountedStep final : public plan::CheckpointTrial {
 public:
  explicit CountedStep(const json& model)
      : CountedStep(folder / "models" / (model.at("model").get<std::string>() + ".pt2"),
                    model.at("time_per_element"), 0) {}

  /// `other_cost` is that of operators that `costs` does not have.
  CountedStep(const fs::path& path, std::map<std::string, double> costs, double other_cost)
      : graph_(trace::load(path.string())), costs_(std::move(costs)), other_cost_(other_cost) {
    const Recording plain = record({});
    for (const StorageRecord& storage : plain.storages)
      if (storage.kind == StorageKind::parameter || storage.kind == StorageKind::input)
        aside_ += round_up(storage.bytes, std::int64_t{512});
    // A residual model: its output is as large as its input.
    for (const StorageRecord& storage : plain.storages)
      if (storage.kind == StorageKind::input) aside_ += round_up(storage.bytes, std::int64_t{512});
  }

  Recording record(const CheckpointPlan& plan) override {
    StepOptions options{.loss = Loss::sum,
                        .device = load_device(test::source_folder() + "/devices/h200.json")};
    options.mode = Mode::train;
    options.checkpoint_plan = plan;
    return test::record_prepared(graph_, options);
  }

  plan::StepPeaks peaks(const Recording& recording) override {
    const Profile profile =
        profile::evaluate(recording, load_device(test::source_folder() + "/devices/h200.json"));
    const std::int64_t bytes = profile.totals.tensor_peak.bytes - aside_;
    return {bytes, bytes};
  }

  std::vector<plan::HeldBytes> held_bytes(const Recording& recording) override {
    std::vector<plan::HeldBytes> held(recording.calls.size());
    std::int64_t now = -aside_;
    std::vector<bool> has_event(recording.storages.size(), false);
    for (const MemoryEvent& event : recording.events)
      has_event[static_cast<std::size_t>(event.storage)] = true;
    for (std::size_t i = 0; i < has_event.size(); ++i)
      if (!has_event[i] && recording.storages[i].on_device)
        now += round_up(recording.storages[i].bytes, std::int64_t{512});
    std::size_t next = 0;
    for (; next < recording.events.size() && recording.events[next].call == none; ++next)
      now += signed_bytes(recording, recording.events[next]);
    for (std::size_t i = 0; i < held.size(); ++i) {
      held[i].all = now;
      for (;
           next < recording.events.size() && recording.events[next].call == static_cast<CallId>(i);
           ++next)
        held[i].all = std::max(held[i].all, now += signed_bytes(recording, recording.events[next]));
    }
    return held;
  }

  std::vector<double> costs_us(const Recording& recording) override {
    std::vector<double> costs;
    for (const CallRecord& call : recording.calls) {
      const auto cost = costs_.find(recording.ops[static_cast<std::size_t>(call.op)].substr(6));
      const std::int32_t spec = call.outputs.empty() ? none : call.outputs[0].spec;
      costs.push_back(
          spec == none
              ? 0
              : (cost == costs_.end() ? other_cost_ : cost->second) *
                    static_cast<double>(recording.specs[static_cast<std::size_t>(spec)].numel()));
    }
    return costs;
  }

  std::int64_t recompute_flops(const Recording&) override { return 0; }

  const Graph& graph() const { return graph_; }

 private:
  static std::int64_t signed_bytes(const Recording& recording, const MemoryEvent& event) {
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(event.storage)];
    const std::int64_t bytes = storage.on_device ? round_up(storage.bytes, std::int64_t{512}) : 0;
    return event.kind == EventKind::allocate ? bytes : -bytes;
  }

  Graph graph_;

  std::map<std::string, double> costs_;
  double other_cost_ = 0;
  std::int64_t aside_ = 0;
};

/// A step with AdamW on the simulated allocator, whose pools have segments of their own.
class ReservedStep final : public plan::CheckpointTrial {
 public:
  explicit ReservedStep(const fs::path& path)
      : counted_(path, {{"addmm", 64}, {"mm", 64}, {"convolution", 8}}, 1) {}

  Recording record(const CheckpointPlan& plan) override {
    StepOptions options{.loss = Loss::sum, .device = device_};
    options.mode = Mode::train;
    options.optimizer = Optimizer::adamw;
    options.checkpoint_plan = plan;
    return test::record_prepared(counted_.graph(), options);
  }

  plan::StepPeaks peaks(const Recording& recording) override {
    const StepMemory memory = profile::simulate_step_memory(recording, device_);
    return {memory.peak_allocated_bytes, memory.peak_reserved_bytes};
  }

  std::vector<plan::HeldBytes> held_bytes(const Recording& recording) override {
    std::vector<plan::HeldBytes> held;
    for (const profile::PoolBytes& call : profile::pool_bytes_by_call(recording, device_, {}))
      held.push_back({call.small, call.large, call.all});
    return held;
  }

  std::vector<profile::PoolWeights> segment_weights(const Recording& again,
                                                    const Recording& plain) override {
    return profile::segment_weights({&again, &plain}, device_, {});
  }
  std::vector<plan::HeldBytes> held_weights(const Recording& recording,
                                            const profile::PoolWeights& weights) override {
    std::vector<plan::HeldBytes> held;
    for (const profile::PoolBytes& call :
         profile::pool_weights_by_call(recording, device_, {}, weights))
      held.push_back({call.small, call.large, call.all});
    return held;
  }
  std::vector<double> costs_us(const Recording& recording) override {
    return counted_.costs_us(recording);
  }
  std::int64_t recompute_flops(const Recording&) override { return 0; }
  const Graph& graph() const { return counted_.graph(); }
  CountedStep& counted() { return counted_; }

 private:
  CountedStep counted_;
  DeviceSpec device_ = load_device(test::source_folder() + "/devices/h200.json");
};

std::vector<std::string> regions_of(const json& model) {
  std::vector<std::string> regions;
  for (const auto& [region, calls] : model.at("regions").items()) regions.push_back(region);
  return regions;
}

double recompute_cost(CountedStep& step, const Recording& recording) {
  const std::vector<double> costs = step.costs_us(recording);
  double sum = 0;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (recording.calls[i].phase == Phase::recompute) sum += costs[i];
  return sum;
}

CheckpointPlan all_of(const std::vector<std::string>& modules) {
  CheckpointPlan plan;
  for (const std::string& module : modules) plan.regions.push_back({.modules = {module}});
  return plan;
}

/// Some regions run again, and keep some calls.
CheckpointPlan some_plan(const plan::StepCosts& costs, std::mt19937& random) {
  CheckpointPlan plan;
  const unsigned keeps = random() % 5;  // Of four.
  for (const plan::RegionCosts& region : costs.regions) {
    if (random() % 4 == 0) continue;
    CheckpointRegion& chosen = plan.regions.emplace_back();
    chosen.modules = {region.module};
    for (const plan::KeepableCall& call : region.calls)
      if (random() % 4 < keeps) chosen.kept.push_back(call.call);
  }
  return plan;
}

}  // namespace

TEST_SUITE("checkpoint_plans") {
  TEST_CASE("peaks and recomputed calls of plans are PyTorch's") {
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

  TEST_CASE("plans and bounds are the exact frontier, which all plans of the models have") {
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

  TEST_CASE("no plan that PyTorch carried out is below the bound") {
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

  TEST_CASE("no plan of larger models is below the bound, and plans reach it") {
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

  TEST_CASE("plans that join modules are an answer only where modules may be joined") {
    CountedStep step(fs::path(test::source_folder()) / "models" / "gpt2.pt2", {{"addmm", 64}}, 1);
    const std::vector<std::string> modules = plan::regions_of(step.graph(), {});
    for (const bool joins : {true, false}) {
      CAPTURE(joins);
      plan::CheckpointPlanner planner(step, modules, {.joins_modules = joins});
      CheckpointPlan two;
      two.regions.push_back({.modules = {modules[0], modules[1]}});
      const plan::PlayedPlan played = planner.play(two);
      REQUIRE(played.cost_us < planner.all_again().cost_us);
      const plan::PlanAnswer answer = planner.known_answer(played.peaks.reserved_bytes);
      REQUIRE(answer.best);
      const bool is_joined = std::ranges::any_of(
          answer.best->plan.regions,
          [](const CheckpointRegion& region) { return region.modules.size() > 1; });
      CHECK(is_joined == joins);
    }
  }

  TEST_CASE("no plan reserves less than the bound of both pools says") {
    const fs::path root = test::source_folder();
    for (const fs::path& path :
         {folder / "models/narrow_decoder.pt2", root / "models/resnet50.pt2",
          root / "models/vit_b_16.pt2", root / "tests/zoo/models/vit_b_32.pt2",
          root / "tests/zoo/models/shufflenet_v2_x1_0.pt2", root / "tests/zoo/models/r3d_18.pt2"}) {
      CAPTURE(path);
      ReservedStep step(path);
      plan::CheckpointPlanner planner(step, plan::regions_of(step.graph(), {}));
      REQUIRE(planner.least_window());
      std::mt19937 random(11);
      for (int i = 0; i < 12; ++i) {
        const Recording recording = step.record(some_plan(planner.selector().costs(), random));
        const std::int64_t reserved = step.peaks(recording).reserved_bytes;
        CHECK(planner.least_window()->bytes <= reserved);
        const plan::PlanAnswer known = planner.known_answer(reserved);
        REQUIRE(known.least_cost_us);
        CHECK(*known.least_cost_us <= recompute_cost(step.counted(), recording));
      }
    }
  }

  TEST_CASE("all that a narrow decoder reserves is what its pools hold at most") {
    ReservedStep step(folder / "models/narrow_decoder.pt2");
    plan::CheckpointPlanner planner(step, plan::regions_of(step.graph(), {}));
    // Its optimizer works on parameters below 1 MiB, its layers on activations above.
    const plan::Window least = *planner.least_window();
    CHECK(least.other_pool_bytes > 0);
    const std::int64_t reserved = planner.all_again().peaks.reserved_bytes;
    CHECK(least.bytes <= reserved);
    CHECK(least.bytes > 0.98 * static_cast<double>(reserved));
    CHECK(reserved > 1.1 * static_cast<double>(planner.all_again().peaks.allocated_bytes));
  }

  TEST_CASE("a step that is put together takes what the recorded one takes") {
    for (const char* model : {"gpt2", "bert_base", "vit_b_16", "resnet50"}) {
      CAPTURE(model);
      ReservedStep step(fs::path(test::source_folder()) / "models" / (std::string(model) + ".pt2"));
      const std::vector<std::string> modules = plan::regions_of(step.graph(), {});
      const Recording plain = step.record({}), again = step.record(all_of(modules));
      const plan::StepCosts costs =
          plan::costs_of_step(plain, again, modules, step.held_bytes(plain), step.costs_us(again));
      const Recording even = step.record(plan::every_second(costs, 0)),
                      odd = step.record(plan::every_second(costs, 1));
      const plan::SharedSteps steps(costs, {plain, again, even, odd}, modules);
      REQUIRE(steps.are_alike());
      // A step that waits for its host.
      constexpr double policy_us = 5;
      const std::vector<double> costs_us = step.costs_us(again);
      plan::ComposedStep composed(steps, costs_us,
                                  {.us = costs_us, .policy_us = policy_us, .slack_us = 0});
      std::mt19937 random(5);
      for (int i = 0; i < 20; ++i) {
        const CheckpointPlan plan = some_plan(costs, random);
        const Recording recorded = step.record(plan);
        const plan::StepPeaks peaks = step.peaks(recorded),
                              others = step.peaks(composed.compose(plan));
        CHECK(others.allocated_bytes == peaks.allocated_bytes);
        CHECK(others.reserved_bytes == peaks.reserved_bytes);
        const auto asked = static_cast<double>(
            std::ranges::count(profile::calls_with_policy(recorded, plan), true));
        CHECK(composed.cost_us() ==
              doctest::Approx(recompute_cost(step.counted(), recorded) + policy_us * asked));
      }
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
