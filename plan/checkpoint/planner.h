// Checkpoint plans of least time within a memory budget, each of them simulated.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/checkpoint/answers.h"
#include "plan/checkpoint/selection.h"
#include "plan/checkpoint/trial.h"

namespace symprof::plan {

class ExpectedPlans;
class PoolProgram;
struct PoolNeed;
struct WeighedStep;

/// True if it recomputes several modules as one region.
bool joins_modules(const CheckpointPlan& plan);

/// A plan that was simulated, or estimated on a composed step. Valid until another one is tried.
struct TriedPlan {
  const CheckpointPlan& plan;
  double cost_us = 0;
};

struct PlannerOptions {
  double step_us = 0;       ///< Of the plain step.
  bool keeps_calls = true;  ///< False: a module is recomputed as a whole or not at all.
  /// False: plans that recompute several modules as one region, as rotor's do, are not answers.
  bool joins_modules = true;
  /// Inputs of recomputed regions and saved tensors may be offloaded to host memory. No lower bound
  /// is known then.
  bool offloads = false;
};

class CheckpointPlanner {
 public:
  /// The least improvement that counts.
  static constexpr double least_gain_us = 1e-6;

  /// `modules` must not contain each other. `trial` must outlive this. Throws Error where the step
  /// does not run, plainly or with all modules checkpointed, and where offloading is to be
  /// considered but copies to the host have no time. A plan is good enough when no other one can be
  /// better by more than a small share of the step.
  CheckpointPlanner(CheckpointTrial& trial, const std::vector<std::string>& modules,
                    const PlannerOptions& options = {});
  ~CheckpointPlanner();
  CheckpointPlanner(const CheckpointPlanner&) = delete;
  CheckpointPlanner& operator=(const CheckpointPlanner&) = delete;

  /// Considers plans found for earlier budgets too, so that a larger budget never gets a slower
  /// plan.
  PlanAnswer answer(std::int64_t budget_bytes);
  /// The same among the known plans, without a search.
  PlanAnswer known_answer(std::int64_t budget_bytes);

  /// A lower bound of what every plan of single regions holds at some call of the plain step: above
  /// any impossible budget. Empty: unknown.
  std::optional<Window> least_window() const;

  const Recording& plain_recording() const { return plain_recording_; }
  double step_us() const { return step_us_; }
  const SimulatedPlan& plain() const { return simulated_.front(); }
  /// The fully checkpointed step: every region is recomputed and keeps its inputs alone.
  const SimulatedPlan& all_again() const { return simulated_[1]; }
  const Selector& selector() const { return *selector_; }
  /// Host-side cost per region; the step waits for what exceeds StepCosts::free_us. Without regions
  /// where no plan makes the step host-bound, or where Selector::costs() include it.
  const StepCosts& host_costs() const { return host_costs_; }
  /// The number of plans simulated, or estimated on composed steps.
  std::size_t plans_tried() const;
  /// The number of plans whose calls sum to at most `most_calls`.
  std::size_t plans_of(std::size_t most_calls) const {
    return most_calls / plain_recording_.calls.size();
  }

  /// Simulates `plan`, once.
  const SimulatedPlan& play(const CheckpointPlan& plan);
  /// The same; if it reserves more than `budget_bytes`, with as much of the budget as possible
  /// taken up front, provided it fits so.
  const SimulatedPlan& play_within(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// The smallest budget that the plan is known to fit, with as much of `budget_bytes` as possible
  /// taken up front if needed; estimated on a composed step where there is one.
  std::int64_t try_within(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// The cost on a composed step; empty where none can be composed.
  std::optional<double> expected_cost_us(const CheckpointPlan& plan);
  /// Bytes that the plan reserves when as much of `budget_bytes` as possible is reserved up front,
  /// if that is at most `most_bytes`; else empty.
  std::optional<std::int64_t> try_up_to(const CheckpointPlan& plan, std::int64_t budget_bytes,
                                        std::int64_t most_bytes);
  /// The cheapest simulated plan that fits; null: none.
  const SimulatedPlan* best_simulated(std::int64_t budget_bytes) const;
  /// The cheapest tried plan that fits; empty: none.
  std::optional<TriedPlan> best_tried(std::int64_t budget_bytes) const;
  /// True if no plan can beat the tried ones by more than that share of the step: searches end
  /// then.
  bool is_good_enough(std::int64_t budget_bytes, double share = 0.005) const;
  /// A lower bound of every plan's cost (PlanAnswer); empty: no plan fits the budget.
  std::optional<double> least_cost_us(std::int64_t budget_bytes) const;
  bool is_possible(std::int64_t budget_bytes) const;
  /// The need on a composed step; empty where none can be composed.
  std::optional<PoolNeed> need_of(const CheckpointPlan& plan) const;

 private:
  /// Results of a plan simulated with memory taken up front.
  struct Reserved {
    std::optional<std::size_t> held;  ///< Index into simulated_: the smallest that fits.
    std::set<std::int64_t> refused;   ///< Budgets that it does not fit.
  };

  std::vector<WeighedStep> weighed_steps(const Recording& again);
  /// True if the composed step of the plan reserves the same.
  bool is_as_expected(const SimulatedPlan& simulated);
  const SimulatedPlan& add(const CheckpointPlan& plan, const Recording& recording);
  double cost_of(const CheckpointPlan& plan, const Recording& recording) const;
  void add_host_costs(StepCosts& costs, const std::vector<std::string>& modules);
  std::vector<StepCosts> blended_costs(const Recording& again,
                                       const std::vector<std::string>& modules,
                                       const std::vector<HeldBytes>& held_bytes);
  void find_bound(const Recording& again, const std::vector<std::string>& modules,
                  const std::vector<HeldBytes>& held_bytes);
  /// Simulates every plan that is estimated to beat all simulated ones.
  void confirm(std::int64_t budget_bytes);
  /// The integer program's lower bound.
  std::optional<double> least_of_program_us(std::int64_t budget_bytes,
                                            std::ptrdiff_t most_work) const;
  /// Spends more work on that bound.
  void prove(std::int64_t budget_bytes);
  /// The lower bounds of each of bounds_, and of the integer program.
  const std::vector<std::optional<double>>& least_costs_us(std::int64_t budget_bytes) const;
  /// The selectors that bound costs, the tightest for this budget first.
  std::vector<const Selector*> strictest_first(std::int64_t budget_bytes) const;

  CheckpointTrial& trial_;
  bool keeps_calls_, joins_modules_;
  double step_us_;
  double plain_cost_us_ = 0;  // The sum of all calls.
  Recording plain_recording_;
  std::unique_ptr<Selector> selector_;
  StepCosts host_costs_;
  std::unique_ptr<Selector> host_;  // With patterns in host memory; null: not requested.
  /// Selectors over sure_costs.h: each gives a lower bound of a plan's cost. Empty: unknown.
  std::vector<Selector> bounds_;
  std::unique_ptr<PoolProgram> program_;        // Null: no bound is known.
  std::unique_ptr<ExpectedPlans> expected_;     // Null: no step can be composed.
  std::deque<SimulatedPlan> simulated_;         // References to its elements stay valid.
  std::map<std::string, std::size_t> by_text_;  // Index into simulated_.
  std::map<std::size_t, Reserved> reserved_;    // By the same index.
  /// By budget.
  mutable std::map<std::int64_t, std::vector<std::optional<double>>> least_costs_;
  std::map<std::int64_t, double> proven_us_;  // By budget: bounds from prove().
};

}  // namespace symprof::plan
