#include "plan/checkpoint/budget_search.h"

#include <algorithm>

namespace symprof::plan {
namespace {

/// Caps on the plans tried by bisection, and on those of all choices.
constexpr int most_tries = 16;
constexpr std::size_t most_choices = 100;
/// Caps on the simulated calls for changed plans, with and without equal regions; candidate changes
/// considered for each.
constexpr std::size_t most_changed_calls_alike = 20'000, most_changed_calls = 60'000;
constexpr int most_thoughts = 60;
/// Regions changed at once, and the farthest move along a frontier, in patterns.
constexpr std::size_t most_moves = 4, farthest_move = 12;
/// The resolution of the bisection, as a share of the budget and of the step.
constexpr double finest_step = 0.001;

}  // namespace

void BudgetSearch::run() {
  bisect();
  if (!planner_.best_tried(budget_bytes_)) try_every_choice();
  change_best();
}

bool BudgetSearch::holds(const Selection& selection) {
  tried_.insert(selection.patterns);
  if (planner_.try_within(selector_.plan_of(selection), budget_bytes_) > budget_bytes_)
    return false;
  if (!best_ || selection.cost_us < best_->cost_us) best_ = selection;
  return true;
}

/// The allocator decides: if it reserves more than the budget, a plan for less memory is requested,
/// and the smallest such reduction is then searched by bisection. Budgets above the
/// highest window leave nothing to recompute.
void BudgetSearch::bisect() {
  const auto budget = static_cast<double>(budget_bytes_);
  const double least = budget - static_cast<double>(selector_.highest_window_bytes());
  double refused = 0, reduction = 0;
  std::optional<double> held;
  for (int tries = 0; tries < most_tries && reduction < budget; ++tries) {
    const Selection selection =
        selector_.select(budget_bytes_ - static_cast<std::int64_t>(reduction));
    if (holds(selection)) {
      held = reduction;
      if (reduction == 0 || planner_.is_good_enough(budget_bytes_, finest_step)) return;
    } else {
      refused = std::max({refused, reduction, std::min(least, budget)});
    }
    if (held && *held - refused < finest_step * budget) return;
    const std::int64_t wanted = planner_.try_within(selector_.plan_of(selection), budget_bytes_);
    const double excess = static_cast<double>(wanted) - budget;
    reduction = held ? (refused + *held) / 2
                     : std::max(reduction, least) + std::max(excess, finest_step * budget);
  }
}

void BudgetSearch::try_every_choice() {
  std::vector<Selection> choices = selector_.choices_within(budget_bytes_);
  if (choices.size() > most_choices) choices.resize(most_choices);
  for (const Selection& choice : choices)
    if (holds(choice)) return;
}

/// A plan that fits has found a layout with little fragmentation; a similar plan often keeps that
/// layout.
void BudgetSearch::change_best() {
  const bool are_alike = 2 * selector_.block_types() <= selector_.costs().regions.size();
  const std::size_t most =
      planner_.plans_of(are_alike ? most_changed_calls_alike : most_changed_calls);
  for (std::size_t i = 0; best_ && i < most && !planner_.is_good_enough(budget_bytes_); ++i) {
    bool is_new = false;
    for (int thought = 0; thought < most_thoughts && !is_new; ++thought) {
      const Selection other = changed();
      is_new = other.cost_us < best_->cost_us - CheckpointPlanner::least_gain_us &&
               selector_.is_within(other, budget_bytes_) && !tried_.contains(other.patterns);
      if (is_new) holds(other);
    }
    if (!is_new) return;
  }
}

Selection BudgetSearch::changed() {
  Selection other = *best_;
  for (std::size_t moves = 1 + some(most_moves); moves > 0; --moves) move_one(other);
  other.cost_us = 0;
  for (std::size_t i = 0; i < other.patterns.size(); ++i)
    other.cost_us +=
        selector_.frontier(i).patterns[static_cast<std::size_t>(other.patterns[i])].cost_us;
  return other;
}

/// Gives one region another pattern of its frontier, or swaps it with that of an equal region.
void BudgetSearch::move_one(Selection& selection) {
  const std::size_t region = some(selection.patterns.size());
  int& pattern = selection.patterns[region];
  const std::size_t other = some(selection.patterns.size());
  if (selector_.block_type(other) == selector_.block_type(region) && some(2) == 0)
    return std::swap(pattern, selection.patterns[other]);
  const int last = static_cast<int>(selector_.frontier(region).patterns.size()) - 1;
  const int distance = 1 + static_cast<int>(some(farthest_move));
  pattern = std::clamp(pattern + (some(2) == 0 ? distance : -distance), 0, last);
}

}  // namespace symprof::plan
