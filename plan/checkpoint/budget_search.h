// The search for the plan of least time within one budget, with the allocator in the loop: the plan
// that a selector finds best may reserve more than the tensors that the selector counts.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/selection.h"

namespace symprof::plan {

class BudgetSearch {
 public:
  /// `planner` simulates the plans and caches them. Both arguments must outlive this.
  BudgetSearch(CheckpointPlanner& planner, const Selector& selector, std::int64_t budget_bytes)
      : planner_(planner), selector_(selector), budget_bytes_(budget_bytes) {}

  /// A search ends when no plan can beat the best one by more than this share of the step.
  static constexpr double worth_varying = 0.005;
  /// The least improvement that counts.
  static constexpr double least_gain_us = 1e-6;

  /// Runs all of the following, as long as a better plan may exist.
  void run();
  /// Simulates the selector's plans for less and less memory until one fits. Returns the reduction
  /// of the budget, in bytes; empty where nothing fits, or no better plan remains.
  std::optional<double> bisect();
  /// Tries other plans near those found at `reduction` bytes below the budget.
  void try_others(double reduction);
  /// For few regions: tries the untried cheaper plans, cheapest first.
  void try_every_choice();
  /// Changes the best plan found in a few regions at a time, as long as that improves it.
  void change_best();

 private:
  bool holds(const Selection& selection);
  void try_between(double reduction);
  void try_evened(double reduction);
  void vary(double reduction);
  Selection changed();
  void move_one(Selection& selection);
  std::size_t some(std::size_t count) { return random_() % count; }
  bool is_good_enough(double share) const;
  /// The least cost among the tried plans that fit, infinite where none does; in the selector's
  /// costs.
  double least_tried_us() const;
  /// The lower bound of the cost, in the selector's costs.
  double least_cost_us() const;

  CheckpointPlanner& planner_;
  const Selector& selector_;
  std::int64_t budget_bytes_;
  std::optional<Selection> best_;  // The best one that fits.
  std::set<std::vector<int>> tried_;
  std::minstd_rand random_;
};

}  // namespace symprof::plan
