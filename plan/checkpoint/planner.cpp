#include "plan/checkpoint/planner.h"

#include <algorithm>

namespace symprof::plan {
namespace {

/// Plans that are carried out for one budget.
constexpr int most_plays = 14;
/// Shares: of the budget, below which it makes no sense to search on; of the least cost, above
/// which a plan is not good enough to stop.
constexpr double finest_step = 0.001, good_enough = 0.002;

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

}  // namespace

CheckpointPlanner::CheckpointPlanner(CheckpointTrial& trial,
                                     const std::vector<std::string>& modules)
    : trial_(trial), plain_recording_(trial.record({})) {
  add({}, plain_recording_);
  const CheckpointPlan all = all_of(modules);
  const Recording again = trial.record(all);
  add(all, again);
  selector_ = std::make_unique<Selector>(costs_of_step(
      plain_recording_, again, modules, trial.held_bytes(plain_recording_), trial.costs_us(again)));
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

CheckpointPlan CheckpointPlanner::plan_of(const Selection& selection) const {
  CheckpointPlan plan;
  for (std::size_t i = 0; i < selection.patterns.size(); ++i) {
    const RegionCosts& region = selector_->costs().regions[i];
    const Pattern& pattern =
        selector_->frontier(i).patterns[static_cast<std::size_t>(selection.patterns[i])];
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
  const auto budget = static_cast<double>(budget_bytes);
  const std::optional<double> least = selector_->least_cost_us(budget_bytes);
  if (!least || plain().peaks.reserved_bytes <= budget_bytes) return;
  double refused = 0, reduction = 0;
  std::optional<double> held;
  for (int plays = 0; plays < most_plays; ++plays) {
    const std::optional<Selection> selection =
        selector_->select(budget_bytes - static_cast<std::int64_t>(reduction));
    if (!selection && reduction == 0) return;
    double excess = 1;
    if (selection)
      excess = static_cast<double>(play(plan_of(*selection)).peaks.reserved_bytes) - budget;
    if (excess <= 0) {
      held = reduction;
      if (reduction == 0 || selection->cost_us <= *least * (1 + good_enough)) return;
    } else if (selection) {
      refused = std::max(refused, reduction);
    } else {
      held = held ? std::min(*held, reduction) : reduction;
    }
    if (!held)
      reduction += std::max(excess, finest_step * budget);
    else
      reduction = (refused + *held) / 2;
    if (held && *held - refused < finest_step * budget) return;
  }
}

PlanAnswer CheckpointPlanner::answer(std::int64_t budget_bytes) {
  search(budget_bytes);
  return known_answer(budget_bytes);
}

PlanAnswer CheckpointPlanner::known_answer(std::int64_t budget_bytes) const {
  PlanAnswer answer{.budget_bytes = budget_bytes};
  for (const PlayedPlan& played : played_)
    if (played.peaks.reserved_bytes <= budget_bytes &&
        (!answer.best || played.cost_us < answer.best->cost_us))
      answer.best = played;
  return answer;
}

}  // namespace symprof::plan
