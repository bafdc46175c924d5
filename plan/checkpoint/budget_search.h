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

  /// Runs all of the following that may find a better plan.
  void run();
  /// Tries the selector's plans for less and less memory until one fits, then those between it and
  /// the last one that does not.
  void bisect();
  /// For few regions: tries all plans, the cheapest first, until one fits.
  void try_every_choice();
  /// Changes the best plan found in a few regions at a time, as long as that improves it.
  void change_best();

 private:
  bool holds(const Selection& selection);
  Selection changed();
  void move_one(Selection& selection);
  std::size_t some(std::size_t count) { return random_() % count; }

  CheckpointPlanner& planner_;
  const Selector& selector_;
  std::int64_t budget_bytes_;
  std::optional<Selection> best_;  // The best one that fits.
  std::set<std::vector<int>> tried_;
  std::minstd_rand random_;
};

}  // namespace symprof::plan
