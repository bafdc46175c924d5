// Checkpoint plans of least time within a budget of memory, each of them carried out.
//
// Public header.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/checkpoint/selection.h"
#include "plan/checkpoint/trial.h"

namespace symprof::plan {

class ExpectedPlans;
class PoolProgramme;
struct PoolNeed;
struct WeighedStep;

/// Whether it runs several modules again as one.
bool joins_modules(const CheckpointPlan& plan);

/// A plan that was carried out, and what came of it.
struct PlayedPlan {
  CheckpointPlan plan;
  /// Of all calls that run again, of copies to the host and back, and of waiting for the host.
  double cost_us = 0;
  std::int64_t recompute_flops = 0;
  StepPeaks peaks;
  std::int64_t offloaded_bytes = 0;  ///< In host memory until backward.
  /// What the loop takes, and gives back, before the model is made (ReservedStep).
  std::vector<std::int64_t> up_front_bytes;
  bool warm_start = false;  ///< Which the loop has to do (ReservedStep).

  /// The least budget that it is known to hold.
  std::int64_t budget_bytes() const { return peaks.reserved_bytes; }
  /// Of all of `up_front_bytes`.
  std::int64_t up_front_sum_bytes() const {
    return std::accumulate(up_front_bytes.begin(), up_front_bytes.end(), std::int64_t{0});
  }
};

/// A plan that was carried out, or tried on a composed step. It holds until another one is tried.
struct TriedPlan {
  const CheckpointPlan& plan;
  double cost_us = 0;
};

struct PlanAnswer {
  std::int64_t budget_bytes = 0;
  /// Of the plans that were carried out and are within the budget, the one of least time.
  std::optional<PlayedPlan> best;
  /// Every plan of the planner's regions, each by itself, that is within the budget costs at least
  /// so much. Plans that join regions may cost less. Empty: nothing is known.
  std::optional<double> least_cost_us;
  /// No such plan is within the budget: it is less than CheckpointPlanner::least_window() holds.
  bool is_impossible = false;
};

struct PlannerOptions {
  double step_us = 0;       ///< Of the plain step.
  bool keeps_calls = true;  ///< False: a module runs again as a whole, or not at all.
  /// False: plans that run several modules again as one, as rotor's do, are no answer.
  bool joins_modules = true;
  /// Inputs of what runs again, and saved tensors, may wait in host memory. No bound is known then.
  bool offloads = false;
};

class CheckpointPlanner {
 public:
  /// `modules` do not lie in each other. `trial` has to outlive this. Throws Error where the step
  /// does not run, plainly or with all modules checkpointed, and where copies to the host are to be
  /// chosen and have no time. A plan is good enough when another one cannot be better by more than
  /// a small share of the step.
  CheckpointPlanner(CheckpointTrial& trial, const std::vector<std::string>& modules,
                    const PlannerOptions& options = {});
  ~CheckpointPlanner();
  CheckpointPlanner(const CheckpointPlanner&) = delete;
  CheckpointPlanner& operator=(const CheckpointPlanner&) = delete;

  /// Plans that an earlier question found count as well: a larger budget is never answered with
  /// more time.
  PlanAnswer answer(std::int64_t budget_bytes);
  /// The same of the plans that are known: nothing is searched.
  PlanAnswer known_answer(std::int64_t budget_bytes);

  /// What every plan of the regions, each by itself, holds at some call of the plain step: more
  /// than any budget that is impossible. Empty: nothing is known.
  std::optional<Window> least_window() const;

  const Recording& plain_recording() const { return plain_recording_; }
  double step_us() const { return step_us_; }
  const PlayedPlan& plain() const { return played_.front(); }
  /// Every region runs again, and keeps its inputs alone.
  const PlayedPlan& all_again() const { return played_[1]; }
  const Selector& selector() const { return *selector_; }
  /// What regions cost the host, which the step waits for beyond StepCosts::free_us; without
  /// regions where no plan makes it wait, or where Selector::costs() have it.
  const StepCosts& host_costs() const { return host_costs_; }
  /// Plans that were carried out or tried on composed steps.
  std::size_t plans_tried() const;
  /// Plans whose calls together are no more than that.
  std::size_t plans_of(std::size_t most_calls) const {
    return most_calls / plain_recording_.calls.size();
  }

  /// Carries `plan` out, once.
  const PlayedPlan& play(const CheckpointPlan& plan);
  /// The same; where it reserves more than `budget_bytes`, with as much of that as there is up
  /// front, if it holds so.
  const PlayedPlan& play_within(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// The least budget that the plan is known to hold, with as much of `budget_bytes` as there is up
  /// front if need be: as expected of a composed step where there is one.
  std::int64_t try_within(const CheckpointPlan& plan, std::int64_t budget_bytes);
  /// Of a composed step; empty where there is none.
  std::optional<double> expected_cost_us(const CheckpointPlan& plan);
  /// What the plan reserves with as much of `budget_bytes` as there is up front, where that is no
  /// more than `most_bytes`; else empty.
  std::optional<std::int64_t> try_up_to(const CheckpointPlan& plan, std::int64_t budget_bytes,
                                        std::int64_t most_bytes);
  /// Of the plans that were carried out and hold, the cheapest; null where none does.
  const PlayedPlan* best_played(std::int64_t budget_bytes) const;
  /// Of the plans that were tried and hold, the cheapest; empty where none does.
  std::optional<TriedPlan> best_tried(std::int64_t budget_bytes) const;
  /// Whether no plan can be better than those that were tried by more than that share of the step.
  bool is_good_enough(std::int64_t budget_bytes, double share) const;
  /// Every plan costs at least so much (PlanAnswer); empty: none is within the budget.
  std::optional<double> least_cost_us(std::int64_t budget_bytes) const;
  bool is_possible(std::int64_t budget_bytes) const;
  /// Of a composed step; empty where there is none.
  std::optional<PoolNeed> need_of(const CheckpointPlan& plan) const;

 private:
  /// Of a plan that was played with something up front.
  struct Reserved {
    std::optional<std::size_t> held;  ///< Index into played_: the least that held.
    std::set<std::int64_t> refused;   ///< Budgets that did not.
  };

  std::vector<WeighedStep> weighed_steps(const Recording& again);
  /// Whether the composed step of the plan takes the same.
  bool is_as_expected(const PlayedPlan& played);
  const PlayedPlan& add(const CheckpointPlan& plan, const Recording& recording);
  double cost_of(const CheckpointPlan& plan, const Recording& recording) const;
  void add_host_costs(StepCosts& costs, const std::vector<std::string>& modules);
  std::vector<StepCosts> blended_costs(const Recording& again,
                                       const std::vector<std::string>& modules,
                                       const std::vector<HeldBytes>& held_bytes);
  void find_bound(const Recording& again, const std::vector<std::string>& modules,
                  const std::vector<HeldBytes>& held_bytes);
  void search_below(std::int64_t budget_bytes);
  /// Carries out what is expected to be better than all that was.
  void confirm(std::int64_t budget_bytes);
  /// The programme's bound.
  std::optional<double> least_of_programme_us(std::int64_t budget_bytes,
                                              std::ptrdiff_t most_work) const;
  /// Works longer on that bound.
  void prove(std::int64_t budget_bytes, std::ptrdiff_t most_work);
  /// Of each of bounds_, and of the programme.
  const std::vector<std::optional<double>>& least_costs_us(std::int64_t budget_bytes) const;
  /// Those that say what a plan costs, the one that leaves the least within the budget first.
  std::vector<const Selector*> strictest_first(std::int64_t budget_bytes) const;

  CheckpointTrial& trial_;
  bool keeps_calls_, joins_modules_;
  double step_us_;
  double plain_cost_us_ = 0;  // Of all calls.
  Recording plain_recording_;
  std::unique_ptr<Selector> selector_;
  StepCosts host_costs_;
  std::unique_ptr<Selector> host_;  // With patterns of the host's memory; null: not asked for.
  /// Of sure_costs.h: a plan costs at least what each of them says. Empty: nothing is known.
  std::vector<Selector> bounds_;
  std::unique_ptr<PoolProgramme> programme_;    // Null: nothing is known.
  std::unique_ptr<ExpectedPlans> expected_;     // Null: no step can be composed.
  std::deque<PlayedPlan> played_;               // References to them hold.
  std::map<std::string, std::size_t> by_text_;  // Index into played_.
  std::map<std::size_t, Reserved> reserved_;    // By the same index.
  /// By budget.
  mutable std::map<std::int64_t, std::vector<std::optional<double>>> least_costs_;
  std::map<std::int64_t, double> proven_us_;  // The same, by prove().
};

}  // namespace symprof::plan
