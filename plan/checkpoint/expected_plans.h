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
  /// The same where no more than `reserved_bytes` is reserved, else empty.
  std::optional<StepPeaks> peaks_up_to(const CheckpointPlan& plan, std::int64_t reserved_bytes);
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

  Tried& remember(const CheckpointPlan& plan, const StepPeaks& peaks);
  Tried& try_out(const CheckpointPlan& plan);
  void offer(Candidate candidate);

  CheckpointTrial& trial_;
  ComposedStep step_;
  std::unordered_map<std::string, Tried> tried_;             // By key.
  std::unordered_map<std::string, std::int64_t> more_than_;  // Reserved, of others.
  std::map<std::int64_t, Candidate> best_;                   // By budget; costs fall.
};

}  // namespace symprof::plan
