#include "session/expandable_plans.h"

#include <algorithm>
#include <limits>

#include "plan/checkpoint/answers.h"
#include "session/checkpoint_answer.h"

namespace symprof {
namespace {

/// A plan that saves at most this share of the step is not worth expandable segments.
constexpr double worth_offering = 0.005;

/// The cost that another plan must stay below; none where no plan can.
std::optional<double> cost_to_beat(const CheckpointAnswer& answer, const plan::PlanAnswer& one) {
  if (!one.best) return std::numeric_limits<double>::infinity();
  const double cost_us = one.best->cost_us - worth_offering * answer.plain_step_us;
  return cost_us > one.least_cost_us.value_or(0.0) ? std::optional(cost_us) : std::nullopt;
}

/// The same step and regions with segments that grow.
CheckpointAnswer planned_expandable(Session& session, Settings settings,
                                    const CheckpointQuestion& question,
                                    const CheckpointAnswer& answer) {
  settings.alloc_conf += settings.alloc_conf.empty() ? "" : ",";
  settings.alloc_conf += "expandable_segments:True";
  settings.loop.allocator.expandable_segments = true;
  CheckpointQuestion again{.regions = answer.regions,
                           .keeps_calls = question.keeps_calls,
                           .joins_modules = question.joins_modules,
                           .offloads = question.offloads,
                           .curve_points = 0,
                           .wants_alternatives = false};
  for (const plan::PlanAnswer& one : answer.answers)
    if (cost_to_beat(answer, one)) again.budgets.push_back(one.budget_bytes + answer.context_bytes);
  return session.plan_checkpoint(settings, again);
}

bool is_better(const plan::SimulatedPlan& offer, const CheckpointAnswer& answer,
               const plan::PlanAnswer& one) {
  const std::optional<double> most_us = cost_to_beat(answer, one);
  return most_us && offer.budget_bytes() <= one.budget_bytes && offer.cost_us < *most_us;
}

}  // namespace

void offer_expandable(Session& session, const Settings& settings,
                      const CheckpointQuestion& question, const plan::SimulatedPlan& grown,
                      CheckpointAnswer& answer) {
  std::vector<plan::SimulatedPlan> offers{grown};
  const auto is_open = [&](const plan::PlanAnswer& one) {
    return cost_to_beat(answer, one) && !is_better(grown, answer, one);
  };
  if (std::ranges::any_of(answer.answers, is_open))
    for (const plan::PlanAnswer& one :
         planned_expandable(session, settings, question, answer).answers)
      if (one.best) offers.push_back(*one.best);
  for (const plan::PlanAnswer& one : answer.answers) {
    const plan::SimulatedPlan* best = nullptr;
    for (const plan::SimulatedPlan& offer : offers)
      if (is_better(offer, answer, one) && (!best || offer.cost_us < best->cost_us)) best = &offer;
    answer.expandable.push_back(best ? std::optional(*best) : std::nullopt);
  }
}

}  // namespace symprof
