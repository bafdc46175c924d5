// Checkpoint plans of least time within a budget of memory, each of them carried out.
//
// Public header.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/checkpoint/selection.h"
#include "plan/checkpoint/trial.h"

namespace symprof::plan {

/// A plan that was carried out, and what came of it.
struct PlayedPlan {
  CheckpointPlan plan;
  double cost_us = 0;  ///< Of all calls that run again.
  std::int64_t recompute_flops = 0;
  StepPeaks peaks;
};

struct PlanAnswer {
  std::int64_t budget_bytes = 0;
  /// Of the plans that were carried out and are within the budget, the one of least time.
  std::optional<PlayedPlan> best;
};

class CheckpointPlanner {
 public:
  /// `modules` do not lie in each other. `trial` has to outlive this. Throws Error where the step
  /// does not run, plainly or with all modules checkpointed.
  CheckpointPlanner(CheckpointTrial& trial, const std::vector<std::string>& modules);

  /// Plans that an earlier question found count as well: a larger budget is never answered with
  /// more time.
  PlanAnswer answer(std::int64_t budget_bytes);
  /// The same of the plans that are known: nothing is carried out.
  PlanAnswer known_answer(std::int64_t budget_bytes) const;

  const Recording& plain_recording() const { return plain_recording_; }
  const PlayedPlan& plain() const { return played_.front(); }
  /// Every region runs again, and keeps its inputs alone.
  const PlayedPlan& all_again() const { return played_[1]; }
  const Selector& selector() const { return *selector_; }
  const std::deque<PlayedPlan>& played() const { return played_; }

  /// Carries `plan` out, once.
  const PlayedPlan& play(const CheckpointPlan& plan);
  CheckpointPlan plan_of(const Selection& selection) const;

 private:
  const PlayedPlan& add(const CheckpointPlan& plan, const Recording& recording);
  void search(std::int64_t budget_bytes);

  CheckpointTrial& trial_;
  Recording plain_recording_;
  std::unique_ptr<Selector> selector_;
  std::deque<PlayedPlan> played_;               // References to them hold.
  std::map<std::string, std::size_t> by_text_;  // Index into played_.
};

}  // namespace symprof::plan
