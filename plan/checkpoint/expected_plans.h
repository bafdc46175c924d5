// What plans would take, tried on composed steps: far less work than to record each of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/checkpoint/composed_step.h"
#include "plan/checkpoint/pool_programme.h"
#include "plan/checkpoint/trial.h"
#include "record/checkpoint_plan.h"

namespace symprof::plan {

/// As text: equal plans have equal keys.
std::string key_of(const CheckpointPlan& plan);

class ExpectedPlans {
 public:
  struct Candidate {
    double cost_us = 0;
    std::int64_t budget_bytes = 0;  ///< The least that it is expected to hold.
    std::int64_t asked_bytes = 0;   ///< The budget within which it was found to hold that.
    CheckpointPlan plan;
  };

  /// `trial` has to outlive this. `small_segments_bytes` are those of the step in which all regions
  /// run again, with something up front.
  ExpectedPlans(CheckpointTrial& trial, ComposedStep step, std::int64_t small_segments_bytes)
      : trial_(trial), step_(std::move(step)), small_segments_bytes_(small_segments_bytes) {}

  bool has(const CheckpointPlan& plan) const { return step_.has(plan); }
  StepPeaks peaks(const CheckpointPlan& plan);
  PoolNeed need(const CheckpointPlan& plan);
  /// What the plan reserves; where that is more than `budget_bytes`, with as much of these up front
  /// as there is, if it holds so.
  std::int64_t budget_of(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// What the plan reserves with as much of `budget_bytes` up front as there is, where that is no
  /// more than `most_bytes`; else empty. Its small segments are taken to be those of the step in
  /// which all regions run again.
  std::optional<std::int64_t> reserved_up_to(const CheckpointPlan& plan, std::int64_t budget_bytes,
                                             std::int64_t most_bytes);
  /// The cheapest within the budget that nothing refuted; null where there is none.
  const Candidate* best_within(std::int64_t budget_bytes) const;
  double cost_us(const CheckpointPlan& plan) { return try_out(plan).cost_us; }
  void refute(const Candidate& candidate);
  std::size_t size() const { return count_; }

 private:
  struct Tried {
    StepPeaks peaks;
    double cost_us = 0;
    std::optional<std::int64_t> held;  ///< The least that was reserved with something up front.
    std::set<std::int64_t> refused;    ///< Budgets that did not hold.
    std::optional<std::int64_t> small_segments_bytes;  ///< With something up front.
    std::optional<std::int64_t> large_bytes;           ///< What large blocks hold at most.
  };
  /// Of a plan, with as much of `walked_budget_` up front as there is.
  struct Walked {
    std::optional<std::int64_t> reserved;
    std::int64_t more_than = 0;
  };

  Tried& try_out(const CheckpointPlan& plan);
  std::int64_t small_segments_bytes(const CheckpointPlan& plan, Tried& tried);
  void offer(Candidate candidate);

  CheckpointTrial& trial_;
  ComposedStep step_;
  std::int64_t small_segments_bytes_;
  std::unordered_map<std::string, Tried> tried_;    // By key.
  std::unordered_map<std::string, Walked> walked_;  // By key.
  std::int64_t walked_budget_ = 0;
  std::size_t count_ = 0;
  std::map<std::int64_t, Candidate> best_;  // By budget; costs fall.
};

}  // namespace symprof::plan
