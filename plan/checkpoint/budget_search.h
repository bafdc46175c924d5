// The search for a plan of least time within one budget, with the allocator in the loop: what a
// selector takes for the best plan may reserve more than the tensors that it counts.
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
  /// Plans are carried out by `planner`, which remembers them. Both have to outlive this.
  BudgetSearch(CheckpointPlanner& planner, const Selector& selector, std::int64_t budget_bytes)
      : planner_(planner), selector_(selector), budget_bytes_(budget_bytes) {}

  /// A plan that another one cannot beat by more than this share of the step ends a search.
  static constexpr double worth_varying = 0.005;
  /// A plan that is cheaper by less is no better.
  static constexpr double least_gain_us = 1e-6;

  /// All of the following, as long as a better plan may exist.
  void run();
  /// Plays what the selector finds for less and less memory, until it holds. What was given up
  /// then, in bytes; empty where nothing holds, or nothing is left to be better.
  std::optional<double> bisect();
  /// Plays others around what was found after `reduction` bytes were given up.
  void try_others(double reduction);
  /// Of a few regions: plays what was not tried yet and is cheaper, cheapest first.
  void try_every_choice();
  /// Changes the best plan that was found in a few regions, as long as that makes it better.
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
  /// Of what was tried and holds; endless where nothing does. As the selector counts costs.
  double least_tried_us() const;
  /// What the selector counts at least.
  double least_cost_us() const;

  CheckpointPlanner& planner_;
  const Selector& selector_;
  std::int64_t budget_bytes_;
  std::optional<Selection> best_;  // That holds.
  std::set<std::vector<int>> tried_;
  std::minstd_rand random_;
};

}  // namespace symprof::plan
