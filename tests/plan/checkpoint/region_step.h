// A training graph of truth/plans/dag_oracle.json as a step whose regions of forward nodes are
// recomputed as in torch.utils.checkpoint, in the file's units of memory.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/checkpoint/trial.h"
#include "profile/policy_calls.h"

namespace symprof::test {

/// Forward nodes, then a backward node for each of them in reverse order.
struct TrainingGraph {
  std::size_t forward = 0;
  std::vector<std::int64_t> bytes;
  std::vector<double> time;
  std::vector<std::vector<std::size_t>> reads;

  explicit TrainingGraph(const nlohmann::json& graph)
      : forward(graph.at("forward")),
        bytes(graph.at("bytes")),
        time(graph.at("time")),
        reads(graph.at("reads")) {}
};

/// Every choice of recomputed regions and of results that they keep.
inline std::vector<CheckpointPlan> all_plans(const std::vector<std::size_t>& regions) {
  std::vector<CheckpointPlan> plans{{}};
  for (std::size_t region = 0; region <= regions.back(); ++region) {
    std::vector<CheckpointRegion> choices{{{std::to_string(region)}, {}}};
    for (std::size_t node = 0; node < regions.size(); ++node)
      if (regions[node] == region)
        for (std::size_t i = choices.size(); i-- > 0;) {
          choices.push_back(choices[i]);
          choices.back().kept.push_back({std::to_string(node), 0});
        }
    for (std::size_t i = plans.size(); i-- > 0;)
      for (const CheckpointRegion& choice : choices) {
        plans.push_back(plans[i]);
        plans.back().regions.push_back(choice);
      }
  }
  return plans;
}

/// One step with one plan, call by call. A result is held as long as something claims it.
class RegionRun {
 public:
  /// `regions` is by forward node; each region is contiguous.
  RegionRun(const TrainingGraph& graph, const std::vector<std::size_t>& regions,
            const CheckpointPlan& plan)
      : graph_(graph), regions_(regions), runs_again_(regions.back() + 1, false) {
    for (const CheckpointRegion& region : plan.regions) {
      runs_again_.at(std::stoul(region.modules.at(0))) = true;
      for (const KeptCall& call : region.kept) kept_.insert(std::stoul(call.op));
    }
    recording_.specs.emplace_back();
    for (std::size_t region = 0; region < runs_again_.size(); ++region) {
      NodeRecord& node = recording_.nodes.emplace_back();
      node.name = std::to_string(region);
      node.op = "higher_order::tag_activation_checkpoint";
    }
    recording_.nodes.emplace_back().op = "backward";
    for (std::size_t i = 0; i < graph.bytes.size(); ++i)
      recording_.ops.push_back(std::to_string(i));
  }

  Recording run() {
    for (std::size_t node = 0; node < graph_.forward; ++node) {
      make(node, Phase::forward, forward_claims(node));
      for (const std::size_t read : graph_.reads[node]) drop(read, {Claim::forward, node});
    }
    for (std::size_t node = graph_.forward; node-- > 0;) go_back(node);
    return std::move(recording_);
  }

 private:
  enum class Claim : std::uint8_t { forward, again, start_of_again, backward };
  using Claims = std::set<std::pair<Claim, std::size_t>>;

  std::size_t backward_of(std::size_t node) const { return 2 * graph_.forward - 1 - node; }
  bool is_read(std::size_t node, std::size_t by) const {
    return std::ranges::find(graph_.reads[by], node) != graph_.reads[by].end();
  }
  bool is_again(std::size_t node) const { return runs_again_[regions_[node]]; }

  /// Backward nodes that read the forward result of `node`, and regions that keep it for their
  /// recomputation: those that read it from outside, and its own if it keeps the result.
  Claims forward_claims(std::size_t node) const {
    Claims claims;
    for (std::size_t other = 0; other < graph_.forward; ++other) {
      const bool is_inside = regions_[other] == regions_[node];
      if (is_read(node, other)) claims.emplace(Claim::forward, other);
      if (is_read(node, backward_of(other)) && !(is_again(other) && is_inside))
        claims.emplace(Claim::backward, other);
      if (is_read(node, other) && is_again(other) && !is_inside)
        claims.emplace(Claim::start_of_again, regions_[other]);
    }
    if (kept_.contains(node)) claims.emplace(Claim::start_of_again, regions_[node]);
    return claims;
  }

  /// The last node of a region whose result its backward nodes need; empty: none.
  std::optional<std::size_t> last_needed(std::size_t region) const {
    std::optional<std::size_t> last;
    for (std::size_t node = 0; node < graph_.forward; ++node)
      for (std::size_t other = 0; other < graph_.forward; ++other)
        if (regions_[node] == region && regions_[other] == region &&
            is_read(node, backward_of(other)))
          last = node;
    return last;
  }

  Claims claims_again(std::size_t node, std::size_t last) const {
    Claims claims;
    for (std::size_t other = 0; other < graph_.forward; ++other) {
      if (regions_[other] != regions_[node]) continue;
      if (is_read(node, backward_of(other))) claims.emplace(Claim::backward, other);
      if (is_read(node, other) && other <= last && !kept_.contains(other))
        claims.emplace(Claim::again, other);
    }
    return claims;
  }

  void run_again(std::size_t region) {
    runs_again_[region] = false;  // Only once.
    const std::size_t last = *last_needed(region);
    for (std::size_t node = 0; node <= last; ++node) {
      if (regions_[node] != region) continue;
      if (kept_.contains(node)) {
        claims_[node].merge(claims_again(node, last));
      } else {
        make(node, Phase::recompute, claims_again(node, last));
        for (const std::size_t read : graph_.reads[node]) drop(read, {Claim::again, node});
      }
    }
    for (std::size_t node = 0; node < graph_.forward; ++node)
      drop(node, {Claim::start_of_again, region});
  }

  void go_back(std::size_t node) {
    const std::size_t back = backward_of(node);
    const auto is_of_region = [&](std::size_t read) {
      return read < graph_.forward && regions_[read] == regions_[node];
    };
    if (is_again(node) && std::ranges::any_of(graph_.reads[back], is_of_region))
      run_again(regions_[node]);
    Claims claims;
    for (std::size_t other = graph_.forward; other < graph_.reads.size(); ++other)
      if (is_read(back, other)) claims.emplace(Claim::backward, other);
    make(back, Phase::backward, claims);
    for (const std::size_t read : graph_.reads[back])
      drop(read, {Claim::backward, read < graph_.forward ? node : back});
  }

  void make(std::size_t node, Phase phase, Claims claims) {
    const auto call = static_cast<CallId>(recording_.calls.size());
    CallRecord& record = recording_.calls.emplace_back();
    record.op = static_cast<std::int32_t>(node);
    record.phase = phase;
    record.node = static_cast<NodeId>(node < graph_.forward ? regions_[node] : runs_again_.size());
    for (const std::size_t read : graph_.reads[node]) record.inputs.push_back({0, storage_[read]});
    const auto storage = static_cast<StorageId>(recording_.storages.size());
    record.outputs = {{0, storage}};
    recording_.storages.push_back({.bytes = 512 * graph_.bytes[node], .allocated_by = call});
    recording_.events.push_back({storage, call, EventKind::allocate});
    storage_[node] = storage;
    claims_[node] = std::move(claims);
    if (claims_[node].empty()) free(node);
  }

  void drop(std::size_t node, const std::pair<Claim, std::size_t>& claim) {
    const auto held = claims_.find(node);
    if (held != claims_.end() && held->second.erase(claim) > 0 && held->second.empty()) free(node);
  }

  void free(std::size_t node) {
    const auto call = static_cast<CallId>(recording_.calls.size()) - 1;
    recording_.events.push_back({storage_[node], call, EventKind::free});
    claims_.erase(node);
  }

  const TrainingGraph& graph_;
  const std::vector<std::size_t>& regions_;
  std::vector<bool> runs_again_;  // By region.
  std::set<std::size_t> kept_;
  Recording recording_;
  std::map<std::size_t, StorageId> storage_;  // By node: its latest result.
  std::map<std::size_t, Claims> claims_;      // By node whose result is held.
};

class RegionStep : public plan::CheckpointTrial {
 public:
  /// The step is host-bound if `policy_us`, the time of a policy per call, is not 0.
  RegionStep(const TrainingGraph& graph, const std::vector<std::size_t>& regions,
             double policy_us = 0)
      : graph_(graph), regions_(regions), policy_us_(policy_us) {}

  std::vector<std::string> modules() const {
    std::vector<std::string> names;
    for (std::size_t region = 0; region <= regions_.back(); ++region)
      names.push_back(std::to_string(region));
    return names;
  }

  double recompute_us(const Recording& recording) const {
    double sum = 0;
    for (const CallRecord& call : recording.calls)
      if (call.phase == Phase::recompute) sum += graph_.time[static_cast<std::size_t>(call.op)];
    return sum;
  }

  /// Includes the time of policies.
  double cost_us(const CheckpointPlan& plan, const Recording& recording) const {
    const auto calls = std::ranges::count(profile::calls_with_policy(recording, plan), true);
    return recompute_us(recording) + policy_us_ * static_cast<double>(calls);
  }

  plan::HostCosts host_costs(const Recording& recording) override {
    if (policy_us_ == 0) return plan::CheckpointTrial::host_costs(recording);
    return {.us = costs_us(recording), .policy_us = policy_us_, .slack_us = 0};
  }

  Recording record(const CheckpointPlan& plan) override {
    return RegionRun(graph_, regions_, plan).run();
  }

  plan::StepPeaks peaks(const Recording& recording) override {
    const std::int64_t most =
        std::ranges::max(held_bytes(recording), {}, &plan::HeldBytes::all).all;
    return {most, most};
  }

  std::vector<plan::HeldBytes> held_bytes(const Recording& recording) override {
    std::vector<plan::HeldBytes> held(recording.calls.size());
    std::int64_t now = 0;
    for (const MemoryEvent& event : recording.events) {
      const std::int64_t bytes = recording.storages[static_cast<std::size_t>(event.storage)].bytes;
      now += event.kind == EventKind::allocate ? bytes : -bytes;
      std::int64_t& most = held[static_cast<std::size_t>(event.call)].all;
      most = std::max(most, now);
    }
    return held;
  }

  std::vector<double> costs_us(const Recording& recording) override {
    std::vector<double> costs;
    for (const CallRecord& call : recording.calls)
      costs.push_back(graph_.time[static_cast<std::size_t>(call.op)]);
    return costs;
  }

  std::int64_t recompute_flops(const Recording&) override { return 0; }

 private:
  const TrainingGraph& graph_;
  const std::vector<std::size_t>& regions_;
  double policy_us_;
};

}  // namespace symprof::test
