// What plans would take, tried on composed steps: far less work than to record each of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/checkpoint/composed_step.h"
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
    CheckpointPlan plan;
  };

  /// `trial` has to outlive this.
  ExpectedPlans(CheckpointTrial& trial, ComposedStep step)
      : trial_(trial), step_(std::move(step)) {}

  bool has(const CheckpointPlan& plan) const { return step_.has(plan); }
  StepPeaks peaks(const CheckpointPlan& plan);
  /// What the plan reserves; where that is more than `budget_bytes` and an allocator that may take
  /// no more holds it, `budget_bytes`.
  std::int64_t budget_of(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// The cheapest within the budget that nothing refuted; null where there is none.
  const Candidate* best_within(std::int64_t budget_bytes) const;
  void refute(const Candidate& candidate);
  std::size_t size() const { return tried_.size(); }

 private:
  struct Tried {
    StepPeaks peaks;
    double cost_us = 0;
    std::optional<std::int64_t> held;  ///< The least limit that held.
    std::int64_t refused = 0;          ///< The largest that did not.
  };

  Tried& try_out(const CheckpointPlan& plan);
  void offer(Candidate candidate);

  CheckpointTrial& trial_;
  ComposedStep step_;
  std::unordered_map<std::string, Tried> tried_;  // By key.
  std::map<std::int64_t, Candidate> best_;        // By budget; costs fall.
};

}  // namespace symprof::plan
