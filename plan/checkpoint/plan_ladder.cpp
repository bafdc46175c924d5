#include "plan/checkpoint/plan_ladder.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "plan/checkpoint/budget_search.h"

namespace symprof::plan {
namespace {

/// The most rungs between the fully checkpointed and the plain step, the least height of a rung (a
/// multiple of segments), and the rungs within which one plan is tried.
constexpr std::int64_t most_rungs = 64, least_rung_bytes = std::int64_t{1} << 21, most_tries = 6;
/// Work for one integer program (IntegerSolver), and for all.
constexpr std::ptrdiff_t work_of_rung = 120'000'000, work_of_all = 900'000'000;
/// Variations of a rung's plan; fewer where a step has many calls.
constexpr std::size_t most_variations = 8, most_calls_near = 12'000;
/// A cap on the simulated calls while further calls are kept.
constexpr std::size_t most_calls_kept = 100'000;

/// A recomputed call of a plan that could be kept.
struct NotKept {
  double cost_us = 0;
  std::size_t region = 0;
  KeptCall call;
};

std::vector<NotKept> most_expensive_first(const CheckpointPlan& plan, const StepCosts& costs) {
  std::vector<NotKept> found;
  for (std::size_t i = 0; i < plan.regions.size(); ++i) {
    const CheckpointRegion& region = plan.regions[i];
    const auto of_region =
        std::ranges::find(costs.regions, region.modules.front(), &RegionCosts::module);
    if (of_region == costs.regions.end()) continue;
    for (const KeepableCall& one : of_region->calls)
      if (std::ranges::find(region.kept, one.call) == region.kept.end())
        found.push_back({one.cost_us, i, one.call});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &NotKept::cost_us);
  return found;
}

}  // namespace

PlanLadder::PlanLadder(CheckpointPlanner& planner, const PoolProgram& program,
                       std::int64_t budget_bytes)
    : planner_(planner),
      program_(program),
      budget_bytes_(budget_bytes),
      work_(work_of_all),
      variations_(static_cast<unsigned>(
          std::clamp<std::size_t>(planner.plans_of(most_calls_near), 1, most_variations))) {
  const std::int64_t range =
      planner.plain().peaks.reserved_bytes - planner.all_again().peaks.reserved_bytes;
  step_bytes_ = std::max(least_rung_bytes, round_up(range / most_rungs, least_rung_bytes));
}

bool PlanLadder::is_good_enough() const {
  return planner_.is_good_enough(budget_bytes_, BudgetSearch::worth_varying);
}

/// First tries the cheapest plan of each rung until one fits, as far as the solver's work finds
/// them; then plans near them.
void PlanLadder::climb_down() {
  const auto may_go_on = [&] { return work_ > 0 && !is_good_enough(); };
  for (std::int64_t rung = budget_bytes_; rung > 0; rung -= step_bytes_)
    if (!may_go_on() || !try_rung(rung, 0) || !has_solution_) break;
  for (std::int64_t rung = budget_bytes_; rung > 0; rung -= step_bytes_)
    for (unsigned variation = 0; variation <= variations_; ++variation)
      if (!may_go_on() || !try_rung(rung, variation)) return;
}

/// Excludes plans that need more than the budget, but not those that need more than the rung. If
/// the work ends before another plan is found, an excluded one serves as a starting point.
PoolProgram::Answer PlanLadder::solve(std::int64_t rung_bytes, unsigned variation) const {
  const auto need_beyond = [this](const CheckpointPlan& plan) {
    std::optional<PoolNeed> need = planner_.need_of(plan);
    if (need && need->small_bytes + round_up(need->large_bytes, least_rung_bytes) <= budget_bytes_)
      need = PoolNeed{};
    return need;
  };
  const std::ptrdiff_t most_work = std::min(work_of_rung, work_);
  PoolProgram::Answer answer = program_.solve(rung_bytes, most_work, need_beyond, variation);
  if (answer.plan || !answer.least_us || !planner_.need_of({})) return answer;
  PoolProgram::Answer other = program_.solve(rung_bytes, most_work, {}, variation);
  answer.plan = std::move(other.plan);
  answer.work += other.work;
  return answer;
}

/// False if neither this rung nor lower ones can have a better plan.
bool PlanLadder::try_rung(std::int64_t rung_bytes, unsigned variation) {
  const PoolProgram::Answer answer = solve(rung_bytes, variation);
  work_ -= answer.work;
  has_solution_ = answer.plan.has_value();
  const std::optional<TriedPlan> best = planner_.best_tried(budget_bytes_);
  if (variation == 0 && (!answer.least_us || (best && *answer.least_us >= best->cost_us)))
    return false;
  if (!answer.plan) return true;
  if (best && planner_.expected_cost_us(*answer.plan).value_or(0) >= best->cost_us) return true;
  try_from(rung_bytes, *answer.plan);
  return true;
}

void PlanLadder::try_from(std::int64_t rung_bytes, const CheckpointPlan& plan) {
  const std::int64_t tries = std::min((budget_bytes_ - rung_bytes) / step_bytes_, most_tries);
  for (std::int64_t i = 0; i <= tries; ++i)
    if (const std::int64_t within = budget_bytes_ - i * step_bytes_;
        planner_.try_within(plan, within) <= within)
      return;
}

/// Keeps one call after the other, the most expensive first, if a composed step gives the plan's
/// cost.
void PlanLadder::keep_more() {
  const std::optional<TriedPlan> best = planner_.best_tried(budget_bytes_);
  if (!best || !planner_.expected_cost_us(best->plan)) return;
  CheckpointPlan plan = best->plan;
  double least_us = best->cost_us;
  std::size_t tries = planner_.plans_of(most_calls_kept);
  for (const NotKept& one : most_expensive_first(plan, planner_.selector().costs())) {
    if (tries == 0 || is_good_enough()) return;
    CheckpointPlan other = plan;
    std::vector<KeptCall>& kept = other.regions[one.region].kept;
    kept.insert(std::ranges::upper_bound(kept, one.call), one.call);
    const double other_us = *planner_.expected_cost_us(other);
    if (other_us > least_us - BudgetSearch::least_gain_us) continue;
    --tries;
    if (planner_.try_within(other, budget_bytes_) > budget_bytes_) continue;
    plan = std::move(other);
    least_us = other_us;
  }
}

}  // namespace symprof::plan
