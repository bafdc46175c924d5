#include "plan/checkpoint/planner.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "plan/checkpoint/sure_costs.h"

namespace symprof::plan {
namespace {

/// Plans that are carried out for one budget.
constexpr int most_plays = 16;
constexpr std::size_t most_choices = 24;
constexpr double any_cost = std::numeric_limits<double>::infinity();
/// Shares: of the budget, below which it makes no sense to search on; of the step, by which another
/// plan may be better than one that ends the search.
constexpr double finest_step = 0.001, good_enough = 0.001;

std::string key_of(const CheckpointPlan& plan) {
  std::string key;
  for (const CheckpointRegion& region : plan.regions) {
    for (const std::string& module : region.modules) key += module + ' ';
    for (const KeptCall& call : region.kept) key += to_string(call) + ' ';
    key += '\n';
  }
  for (const std::string& module : plan.offloaded) key += "offload " + module + '\n';
  return key;
}

/// Of all calls that run again.
double cost_again(const Recording& recording, const std::vector<double>& cost_us) {
  double sum = 0;
  for (std::size_t i = 0; i < recording.calls.size(); ++i)
    if (recording.calls[i].phase == Phase::recompute) sum += cost_us[i];
  return sum;
}

CheckpointPlan all_of(const std::vector<std::string>& modules) {
  CheckpointPlan plan;
  plan.regions.reserve(modules.size());
  for (const std::string& module : modules) plan.regions.push_back({.modules = {module}});
  return plan;
}

/// Plans that the bound is about.
bool is_of_single_regions(const CheckpointPlan& plan) {
  return plan.offloaded.empty() &&
         std::ranges::all_of(plan.regions, [](const CheckpointRegion& region) {
           return region.modules.size() == 1;
         });
}

}  // namespace

CheckpointPlanner::CheckpointPlanner(CheckpointTrial& trial,
                                     const std::vector<std::string>& modules, double step_us)
    : trial_(trial), step_us_(step_us), plain_recording_(trial.record({})) {
  add({}, plain_recording_);
  const CheckpointPlan all = all_of(modules);
  const Recording again = trial.record(all);
  add(all, again);
  const std::vector<std::int64_t> held_bytes = trial.held_bytes(plain_recording_);
  selector_ = std::make_unique<Selector>(
      costs_of_step(plain_recording_, again, modules, held_bytes, trial.costs_us(again)));
  find_bound(again, modules, held_bytes);
}

void CheckpointPlanner::find_bound(const Recording& again, const std::vector<std::string>& modules,
                                   const std::vector<std::int64_t>& held_bytes) {
  const StepCosts& costs = selector_->costs();
  if (costs.regions.empty()) return;
  try {
    const Recording even = trial_.record(every_second(costs, 0)),
                    odd = trial_.record(every_second(costs, 1));
    if (std::optional<StepCosts> sure =
            sure_costs(costs, {plain_recording_, again, even, odd}, modules, held_bytes))
      bound_ = std::make_unique<Selector>(std::move(*sure));
  } catch (const Error&) {
    // Modules that only run again together: nothing is known.
  }
}

const PlayedPlan& CheckpointPlanner::add(const CheckpointPlan& plan, const Recording& recording) {
  by_text_.emplace(key_of(plan), played_.size());
  played_.push_back({plan, cost_again(recording, trial_.costs_us(recording)),
                     trial_.recompute_flops(recording), trial_.peaks(recording)});
  return played_.back();
}

const PlayedPlan& CheckpointPlanner::play(const CheckpointPlan& plan) {
  const auto known = by_text_.find(key_of(plan));
  if (known != by_text_.end()) return played_[known->second];
  return add(plan, trial_.record(plan));
}

CheckpointPlan CheckpointPlanner::plan_of(const Selector& selector, const Selection& selection) {
  CheckpointPlan plan;
  for (std::size_t i = 0; i < selection.patterns.size(); ++i) {
    const RegionCosts& region = selector.costs().regions[i];
    const Pattern& pattern =
        selector.frontier(i).patterns[static_cast<std::size_t>(selection.patterns[i])];
    if (!pattern.runs_again) continue;
    CheckpointRegion& chosen = plan.regions.emplace_back();
    chosen.modules = {region.module};
    for (const int call : pattern.kept)
      chosen.kept.push_back(region.calls[static_cast<std::size_t>(call)].call);
  }
  return plan;
}

/// The allocator decides: where it wants more than the budget, a plan for less is asked for. Then
/// the smallest such reduction is searched.
void CheckpointPlanner::search(std::int64_t budget_bytes) {
  const PlanAnswer known = known_answer(budget_bytes);
  if (plain().peaks.reserved_bytes <= budget_bytes || known.is_impossible) return;
  const auto budget = static_cast<double>(budget_bytes);
  const double enough = known.least_cost_us.value_or(-step_us_) + good_enough * step_us_;
  const Selector& selector = bound_ ? *bound_ : *selector_;
  double refused = 0, reduction = 0;
  std::optional<double> held;
  for (int plays = 0; plays < most_plays && reduction < budget; ++plays) {
    const PlayedPlan& played = play(
        plan_of(selector, selector.select(budget_bytes - static_cast<std::int64_t>(reduction))));
    const double excess = static_cast<double>(played.peaks.reserved_bytes) - budget;
    if (excess <= 0) {
      held = reduction;
      if (reduction == 0 || played.cost_us <= enough) return;
    } else {
      refused = std::max(refused, reduction);
    }
    if (held && *held - refused < finest_step * budget) return;
    reduction = held ? (refused + *held) / 2 : reduction + std::max(excess, finest_step * budget);
  }
}

void CheckpointPlanner::try_every_choice(std::int64_t budget_bytes) {
  const Selector& selector = bound_ ? *bound_ : *selector_;
  const PlanAnswer known = known_answer(budget_bytes);
  if (known.is_impossible) return;
  const double least = known.least_cost_us.value_or(0.0);
  double most = any_cost;
  if (known.best) most = known.best->cost_us;
  std::vector<Selection> choices = selector.choices_between(budget_bytes, least, most);
  if (choices.size() > most_choices) choices.resize(most_choices);
  for (const Selection& choice : choices)
    if (play(plan_of(selector, choice)).peaks.reserved_bytes <= budget_bytes) return;
}

PlanAnswer CheckpointPlanner::answer(std::int64_t budget_bytes) {
  search(budget_bytes);
  try_every_choice(budget_bytes);
  return known_answer(budget_bytes);
}

PlanAnswer CheckpointPlanner::known_answer(std::int64_t budget_bytes) const {
  PlanAnswer answer{.budget_bytes = budget_bytes};
  for (const PlayedPlan& played : played_)
    if (played.peaks.reserved_bytes <= budget_bytes &&
        (!answer.best || played.cost_us < answer.best->cost_us))
      answer.best = played;
  if (!bound_) return answer;
  answer.least_cost_us = bound_->least_cost_us(budget_bytes);
  answer.is_impossible = !answer.least_cost_us;
  if (answer.best && is_of_single_regions(answer.best->plan) &&
      answer.best->cost_us < answer.least_cost_us.value_or(answer.best->cost_us + 1)) {
    answer.least_cost_us.reset();  // A bound that a plan refutes is none.
    answer.is_impossible = false;
  }
  return answer;
}

}  // namespace symprof::plan
