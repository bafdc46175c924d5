// The searches for a plan within a budget, in the order in which they run: each as long as the gap
// to the lower bound is above the target (docs/evaluation/plans.md).
#include "plan/checkpoint/budget_search.h"
#include "plan/checkpoint/plan_ladder.h"
#include "plan/checkpoint/plan_walk.h"
#include "plan/checkpoint/planner.h"

namespace symprof::plan {
namespace {

/// Steps with more calls are searched with the tightest bound alone: each plan takes long.
constexpr std::size_t most_calls_searched_on = 1'500;
/// More work is spent on a bound from which the best plan is further than this share of the step.
constexpr double worth_proving = 0.01;

}  // namespace

PlanAnswer CheckpointPlanner::answer(std::int64_t budget_bytes) {
  if (!is_possible(budget_bytes) || try_within({}, budget_bytes) <= budget_bytes)
    return known_answer(budget_bytes);
  if (program_) climb_down(*this, *program_, budget_bytes);
  for (const Selector* selector : strictest_first(budget_bytes)) {
    if (is_good_enough(budget_bytes)) break;
    BudgetSearch(*this, *selector, budget_bytes).run();
    if (plain_recording_.calls.size() > most_calls_searched_on) break;
  }
  if (!is_good_enough(budget_bytes)) PlanWalk(*this, budget_bytes).run();
  if (program_ && !is_good_enough(budget_bytes, worth_proving)) prove(budget_bytes);
  if (host_) BudgetSearch(*this, *host_, budget_bytes).bisect();
  return known_answer(budget_bytes);
}

}  // namespace symprof::plan
