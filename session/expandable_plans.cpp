#include "session/expandable_plans.h"

#include <algorithm>

namespace symprof {
namespace {

/// A cheaper plan, or none at all, may hold where segments leave less unused.
bool may_gain(const plan::PlanAnswer& one) { return !one.best || one.best->cost_us > 0; }

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
    if (may_gain(one)) again.budgets.push_back(one.budget_bytes + answer.context_bytes);
  return session.plan_checkpoint(settings, again);
}

bool is_better(const plan::PlayedPlan& offer, const plan::PlanAnswer& one) {
  return may_gain(one) && offer.budget_bytes() <= one.budget_bytes &&
         (!one.best || offer.cost_us < one.best->cost_us);
}

}  // namespace

void offer_expandable(Session& session, const Settings& settings,
                      const CheckpointQuestion& question, const plan::PlayedPlan& grown,
                      CheckpointAnswer& answer) {
  std::vector<plan::PlayedPlan> offers{grown};
  const auto is_open = [&](const plan::PlanAnswer& one) {
    return may_gain(one) && !is_better(grown, one);
  };
  if (std::ranges::any_of(answer.answers, is_open))
    for (const plan::PlanAnswer& one :
         planned_expandable(session, settings, question, answer).answers)
      if (one.best) offers.push_back(*one.best);
  for (const plan::PlanAnswer& one : answer.answers) {
    const plan::PlayedPlan* best = nullptr;
    for (const plan::PlayedPlan& offer : offers)
      if (is_better(offer, one) && (!best || offer.cost_us < best->cost_us)) best = &offer;
    answer.expandable.push_back(best ? std::optional(*best) : std::nullopt);
  }
}

}  // namespace symprof
