// Steps of model files under checkpoint plans, as planners evaluate them: counted in tensors, as
// measured in PyTorch (truth/plans/torch_plans.py), and on the simulated allocator.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "plan/checkpoint/planner.h"
#include "profile/memory/pool_bytes.h"
#include "profile/memory/step_memory.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"

namespace symprof::test {

inline std::filesystem::path plans_folder() {
  return std::filesystem::path(source_folder()) / "truth/plans";
}

/// The step that PyTorch ran, with its accounting: tensors in blocks of 512 bytes, without
/// parameters, the input, and the previous step's output; synthetic costs per operator.
class CountedStep final : public plan::CheckpointTrial {
 public:
  explicit CountedStep(const nlohmann::json& model)
      : CountedStep(plans_folder() / "models" / (model.at("model").get<std::string>() + ".pt2"),
                    model.at("time_per_element"), 0) {}

  /// `other_cost` is the cost of operators missing in `costs`.
  CountedStep(const std::filesystem::path& path, std::map<std::string, double> costs,
              double other_cost)
      : graph_(trace::load(path.string())), costs_(std::move(costs)), other_cost_(other_cost) {
    const Recording plain = record({});
    for (const StorageRecord& storage : plain.storages)
      if (storage.kind == StorageKind::parameter || storage.kind == StorageKind::input)
        aside_ += round_up(storage.bytes, std::int64_t{512});
    // A residual model: its output has its input's size.
    for (const StorageRecord& storage : plain.storages)
      if (storage.kind == StorageKind::input) aside_ += round_up(storage.bytes, std::int64_t{512});
  }

  Recording record(const CheckpointPlan& plan) override {
    StepOptions options{.loss = Loss::sum,
                        .device = load_device(source_folder() + "/devices/h200.json")};
    options.mode = Mode::train;
    options.checkpoint_plan = plan;
    return record_prepared(graph_, options);
  }

  plan::StepPeaks peaks(const Recording& recording) override {
    const Profile profile =
        profile::evaluate(recording, load_device(source_folder() + "/devices/h200.json"));
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

/// A step with AdamW on the simulated allocator, whose pools have separate segments.
class ReservedStep final : public plan::CheckpointTrial {
 public:
  explicit ReservedStep(const std::filesystem::path& path)
      : counted_(path, {{"addmm", 64}, {"mm", 64}, {"convolution", 8}}, 1) {}

  Recording record(const CheckpointPlan& plan) override {
    StepOptions options{.loss = Loss::sum, .device = device_};
    options.mode = Mode::train;
    options.optimizer = Optimizer::adamw;
    options.checkpoint_plan = plan;
    return record_prepared(counted_.graph(), options);
  }

  plan::StepPeaks peaks(const Recording& recording) override {
    const StepMemory memory = profile::simulate_step_memory(recording, device_);
    return {memory.peak_allocated_bytes, memory.peak_reserved_bytes, memory.small_segments_bytes};
  }

  /// Reserves `bytes` up front, except small segments; empty if more is reserved.
  std::optional<plan::ReservedStep> reserve(const Recording& recording, std::int64_t bytes,
                                            std::int64_t small_segments_bytes,
                                            std::int64_t most_bytes) override {
    profile::LoopOptions loop;
    const std::int64_t unit = profile::own_segment_unit_bytes;
    loop.allocator.up_front_bytes = {(bytes - small_segments_bytes) / unit * unit};
    const StepMemory memory = profile::simulate_step_memory(
        recording, device_, {.loop = loop, .most_reserved_bytes = most_bytes});
    if (memory.refused_call) return std::nullopt;
    return plan::ReservedStep{
        loop.allocator.up_front_bytes,
        {memory.peak_allocated_bytes, memory.peak_reserved_bytes, memory.small_segments_bytes}};
  }

  std::vector<plan::HeldBytes> held_bytes(const Recording& recording) override {
    std::vector<plan::HeldBytes> held;
    for (const profile::PoolBytes& call : profile::pool_bytes_by_call(recording, device_, {}))
      held.push_back({call.small, call.large, call.all});
    return held;
  }

  std::vector<profile::PoolWeights> segment_weights(const Recording& again,
                                                    const Recording& plain) override {
    return profile::segment_weights({&again, &plain}, device_, {}, /*may_reserve=*/true);
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
  DeviceSpec device_ = load_device(source_folder() + "/devices/h200.json");
};

/// The smallest reserved memory found in which the step runs, most of it reserved up front.
inline std::int64_t least_reserved(ReservedStep& step, const Recording& recording) {
  const plan::StepPeaks plain = step.peaks(recording);
  std::int64_t least = plain.reserved_bytes;
  for (std::int64_t bytes = plain.allocated_bytes; bytes < least;
       bytes += profile::own_segment_unit_bytes)
    if (const auto found = step.reserve(recording, bytes, plain.small_segments_bytes, bytes))
      least = found->peaks.reserved_bytes;
  return least;
}

inline double recompute_cost(CountedStep& step, const Recording& recording) {
  const std::vector<double> costs = step.costs_us(recording);
  double sum = 0;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (recording.calls[i].phase == Phase::recompute) sum += costs[i];
  return sum;
}

inline CheckpointPlan all_of(const std::vector<std::string>& modules) {
  CheckpointPlan plan;
  for (const std::string& module : modules) plan.regions.push_back({.modules = {module}});
  return plan;
}

/// A random plan: some regions are recomputed and keep some calls.
inline CheckpointPlan some_plan(const plan::StepCosts& costs, std::mt19937& random) {
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

}  // namespace symprof::test
