// Estimates of plans from composed steps: far cheaper than recording each plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/checkpoint/composed_step.h"
#include "plan/checkpoint/pool_program.h"
#include "plan/checkpoint/trial.h"
#include "record/checkpoint_plan.h"

namespace symprof::plan {

/// A text key: equal plans have equal keys.
std::string key_of(const CheckpointPlan& plan);

class ExpectedPlans {
 public:
  struct Candidate {
    double cost_us = 0;
    std::int64_t budget_bytes = 0;  ///< The smallest budget that it is estimated to fit.
    std::int64_t asked_bytes = 0;   ///< The budget for which that estimate was made.
    CheckpointPlan plan;
  };

  /// `trial` must outlive this. `small_segments_bytes` are those of the fully checkpointed step,
  /// with memory taken up front.
  ExpectedPlans(CheckpointTrial& trial, ComposedStep step, std::int64_t small_segments_bytes)
      : trial_(trial), step_(std::move(step)), small_segments_bytes_(small_segments_bytes) {}

  bool has(const CheckpointPlan& plan) const { return step_.has(plan); }
  StepPeaks peaks(const CheckpointPlan& plan);
  PoolNeed need(const CheckpointPlan& plan);
  /// Bytes that the plan reserves. If these exceed `budget_bytes`: the bytes reserved when as much
  /// of the budget as possible is reserved up front, provided that fits.
  std::int64_t budget_of(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// Bytes that the plan reserves when as much of `budget_bytes` as possible is reserved up front,
  /// if that is at most `most_bytes`; else empty. Assumes the small segments of the fully
  /// checkpointed step.
  std::optional<std::int64_t> reserved_up_to(const CheckpointPlan& plan, std::int64_t budget_bytes,
                                             std::int64_t most_bytes);
  /// The cheapest unrefuted plan within the budget; null: none.
  const Candidate* best_within(std::int64_t budget_bytes) const;
  double cost_us(const CheckpointPlan& plan) { return try_out(plan).cost_us; }
  void refute(const Candidate& candidate);
  std::size_t size() const { return count_; }

 private:
  struct Tried {
    StepPeaks peaks;
    double cost_us = 0;
    std::optional<std::int64_t> held;  ///< The least reserved with memory taken up front.
    std::set<std::int64_t> refused;    ///< Budgets that it does not fit.
    std::optional<std::int64_t> small_segments_bytes;  ///< With memory taken up front.
    std::optional<std::int64_t> large_bytes;           ///< The peak of large blocks.
  };
  /// A plan with as much of `walked_budget_` as possible taken up front.
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
  std::map<std::int64_t, Candidate> best_;  // By budget; costs decrease.
};

}  // namespace symprof::plan
