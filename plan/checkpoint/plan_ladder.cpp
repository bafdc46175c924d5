#include "plan/checkpoint/plan_ladder.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/rounding.h"

namespace symprof::plan {
namespace {

/// The most rungs between the fully checkpointed and the plain step, the least height of a rung (a
/// multiple of segments), and the rungs within which one plan is tried.
constexpr std::int64_t most_rungs = 64, least_rung_bytes = std::int64_t{1} << 21, tries_of_rung = 6;
/// Work for one integer program (IntegerSolver), and for all.
constexpr std::ptrdiff_t work_of_rung = 120'000'000, work_of_all = 900'000'000;

/// Excludes plans that need more than the budget, but not those that need more than the rung. If
/// the work ends before another plan is found, an excluded one serves.
PoolProgram::Answer cheapest_on(std::int64_t rung_bytes, const CheckpointPlanner& planner,
                                const PoolProgram& program, std::int64_t budget_bytes,
                                std::ptrdiff_t work) {
  const auto need_of = [&](const CheckpointPlan& plan) { return planner.need_of(plan); };
  PoolProgram::Answer answer = program.solve(rung_bytes, work, need_of, budget_bytes);
  if (answer.plan || !answer.least_us || !need_of({})) return answer;
  PoolProgram::Answer other = program.solve(rung_bytes, work);
  answer.plan = std::move(other.plan);
  answer.work += other.work;
  return answer;
}

}  // namespace

void climb_down(CheckpointPlanner& planner, const PoolProgram& program, std::int64_t budget_bytes) {
  const std::int64_t range =
      planner.plain().peaks.reserved_bytes - planner.all_again().peaks.reserved_bytes;
  const std::int64_t step =
      std::max(least_rung_bytes, round_up(range / most_rungs, least_rung_bytes));
  std::ptrdiff_t work = work_of_all;
  for (std::int64_t rung = budget_bytes; rung > 0 && work > 0; rung -= step) {
    if (planner.is_good_enough(budget_bytes)) return;
    const PoolProgram::Answer answer =
        cheapest_on(rung, planner, program, budget_bytes, std::min(work_of_rung, work));
    work -= answer.work;
    const std::optional<TriedPlan> best = planner.best_tried(budget_bytes);
    const double most_us = best ? best->cost_us : std::numeric_limits<double>::infinity();
    if (!answer.least_us || *answer.least_us >= most_us) return;
    if (!answer.plan || planner.expected_cost_us(*answer.plan).value_or(0) >= most_us) continue;
    std::int64_t within = budget_bytes;
    for (std::int64_t i = 0; i <= tries_of_rung && within >= rung; ++i, within -= step)
      if (planner.try_within(*answer.plan, within) <= within) break;
  }
}

}  // namespace symprof::plan
