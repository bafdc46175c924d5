#include "plan/checkpoint/budget_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symprof::plan {
namespace {

/// Plans simulated until one fits.
constexpr int most_plays = 16;
constexpr std::size_t least_choices = 24, most_choice_calls = 100'000, most_even = 12;
constexpr int most_between = 8;
/// The most varied plans, and a cap on the calls of the steps simulated for them.
constexpr std::size_t most_varied = 40, most_varied_calls = 20'000;
/// Caps on the simulated calls for changed plans, with and without equal regions; candidate changes
/// considered for each.
constexpr std::size_t most_changed_calls_alike = 20'000, most_changed_calls = 60'000;
constexpr int most_thoughts = 60;
/// Regions changed at once, and the farthest move along a frontier, in patterns.
constexpr std::size_t most_moves = 4, farthest_move = 12;
constexpr double golden_ratio = 0.618033988749895;
/// Shares: of the budget, the resolution of the search; of the step, the gain below which no better
/// plan is searched for.
constexpr double finest_step = 0.001, good_enough = 0.001;

}  // namespace

void BudgetSearch::run() {
  if (const std::optional<double> reduction = bisect()) try_others(*reduction);
  try_every_choice();
  change_best();
}

bool BudgetSearch::holds(const Selection& selection) {
  tried_.insert(selection.patterns);
  if (planner_.try_within(selector_.plan_of(selection), budget_bytes_) > budget_bytes_)
    return false;
  if (!best_ || selection.cost_us < best_->cost_us) best_ = selection;
  return true;
}

bool BudgetSearch::is_good_enough(double share) const {
  return planner_.is_good_enough(budget_bytes_, share);
}

double BudgetSearch::least_tried_us() const {
  const std::optional<TriedPlan> tried = planner_.best_tried(budget_bytes_);
  return tried ? tried->cost_us + selector_.costs().free_us
               : std::numeric_limits<double>::infinity();
}

double BudgetSearch::least_cost_us() const {
  return planner_.least_cost_us(budget_bytes_).value_or(0.0) + selector_.costs().free_us;
}

/// The allocator decides: if it reserves more than the budget, a plan for less memory is requested,
/// and the smallest such reduction is then searched by bisection. Budgets above the
/// highest window leave nothing to recompute.
std::optional<double> BudgetSearch::bisect() {
  const auto budget = static_cast<double>(budget_bytes_);
  const double least = budget - static_cast<double>(selector_.highest_window_bytes());
  double refused = 0, reduction = 0;
  std::optional<double> held;
  for (int plays = 0; plays < most_plays && reduction < budget; ++plays) {
    const Selection selection =
        selector_.select(budget_bytes_ - static_cast<std::int64_t>(reduction));
    if (holds(selection)) {
      held = reduction;
      if (reduction == 0 || is_good_enough(good_enough)) return std::nullopt;
    } else {
      refused = std::max({refused, reduction, std::min(least, budget)});
    }
    if (held && *held - refused < finest_step * budget) break;
    const std::int64_t wanted = planner_.try_within(selector_.plan_of(selection), budget_bytes_);
    const double excess = static_cast<double>(wanted) - budget;
    reduction = held ? (refused + *held) / 2
                     : std::max(reduction, least) + std::max(excess, finest_step * budget);
  }
  return held;
}

/// Tries other plans of nearly the least cost: fragmentation differs from plan to plan, so a
/// cheaper plan than the best may fit as well.
void BudgetSearch::try_others(double reduction) {
  try_between(reduction);
  if (is_good_enough(good_enough)) return;
  try_evened(reduction);
  vary(reduction);
}

/// Plans for slightly more memory.
void BudgetSearch::try_between(double reduction) {
  for (int i = 1; i <= most_between; ++i) {
    const double less = reduction * (1 - static_cast<double>(i) / (most_between + 1));
    holds(selector_.select(budget_bytes_ - static_cast<std::int64_t>(less)));
  }
}

/// Plans that treat equal modules equally: their blocks fit into each other's freed places.
void BudgetSearch::try_evened(double reduction) {
  const Selection base = selector_.select(budget_bytes_ - static_cast<std::int64_t>(reduction));
  const std::vector<Selection> even = selector_.evened(base, least_cost_us(), least_tried_us());
  const std::size_t step = std::max<std::size_t>(even.size() / most_even, 1);
  for (std::size_t i = 0; i < even.size(); i += step)
    if (holds(even[i])) return;
}

/// Other plans of nearly the least cost, each of which may fragment memory differently.
void BudgetSearch::vary(double reduction) {
  for (unsigned variation = 1;
       variation <= std::min(planner_.plans_of(most_varied_calls), most_varied); ++variation) {
    if (is_good_enough(worth_varying)) return;
    const double share = std::fmod(variation * golden_ratio, 1);  // Spreads the reductions evenly.
    const Selection other =
        selector_.select(budget_bytes_ - static_cast<std::int64_t>(share * reduction), variation);
    if (other.cost_us < least_tried_us()) holds(other);
  }
}

void BudgetSearch::try_every_choice() {
  std::vector<Selection> choices =
      selector_.choices_between(budget_bytes_, least_cost_us(), least_tried_us());
  const std::size_t most = std::max(least_choices, planner_.plans_of(most_choice_calls));
  if (choices.size() > most) choices.resize(most);
  for (const Selection& choice : choices)
    if (holds(choice)) return;
}

/// A plan that fits has found a layout with little fragmentation; a similar plan often keeps that
/// layout.
void BudgetSearch::change_best() {
  const bool are_alike = 2 * selector_.block_types() <= selector_.costs().regions.size();
  const std::size_t most =
      planner_.plans_of(are_alike ? most_changed_calls_alike : most_changed_calls);
  for (std::size_t i = 0; best_ && i < most && !is_good_enough(worth_varying); ++i) {
    bool is_new = false;
    for (int thought = 0; thought < most_thoughts && !is_new; ++thought) {
      const Selection other = changed();
      is_new = other.cost_us < best_->cost_us - least_gain_us &&
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
