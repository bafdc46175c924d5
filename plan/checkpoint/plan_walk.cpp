#include "plan/checkpoint/plan_walk.h"

#include <algorithm>
#include <cmath>

namespace symprof::plan {
namespace {

/// The price of a byte beyond the budget, as a multiple of what the initial plan pays per byte.
constexpr double price_of_excess = 3;
/// Temperatures of the annealing at its beginning and at its end, as shares of the step's time.
constexpr double first_temperature = 0.003, last_temperature = 0.0001;
/// Changes per move; one in `of_all_one_in` applies to all equal regions.
constexpr std::size_t most_changes = 3, of_all_one_in = 6;
/// A cap on the simulated calls.
constexpr std::size_t most_walked_calls = 1'500'000;
/// Probabilities are multiples of one over this.
constexpr unsigned chances = 1'000'000;

}  // namespace

PlanWalk::PlanWalk(CheckpointPlanner& planner, std::int64_t budget_bytes)
    : planner_(planner), budget_bytes_(budget_bytes) {}

void PlanWalk::run() {
  const std::optional<TriedPlan> best = planner_.best_tried(budget_bytes_);
  const std::int64_t freed = planner_.plain().peaks.reserved_bytes - budget_bytes_;
  if (regions().empty() || freed <= 0 || !best || !read(best->plan)) return;
  value_us_ = cost_us(at_);
  us_per_byte_ = price_of_excess * value_us_ / static_cast<double>(freed);
  const std::size_t steps = planner_.plans_of(most_walked_calls);
  for (std::size_t i = 0; i < steps; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(steps);
    step(planner_.step_us() * first_temperature *
         std::pow(last_temperature / first_temperature, part));
  }
}

bool PlanWalk::read(const CheckpointPlan& plan) {
  at_.assign(regions().size(), {});
  for (const CheckpointRegion& region : plan.regions) {
    const auto found = std::ranges::find(regions(), region.modules.front(), &RegionCosts::module);
    if (region.modules.size() != 1 || found == regions().end()) return false;
    Choice& choice = at_[static_cast<std::size_t>(found - regions().begin())];
    choice.runs_again = true;
    for (std::size_t i = 0; i < found->calls.size(); ++i)
      if (std::ranges::find(region.kept, found->calls[i].call) != region.kept.end())
        choice.kept.push_back(static_cast<int>(i));
  }
  return plan.offloaded.empty();
}

CheckpointPlan PlanWalk::plan_of(const Choices& choices) const {
  CheckpointPlan plan;
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (choices[i].runs_again) plan.regions.push_back(regions()[i].keeping(choices[i].kept));
  return plan;
}

double PlanWalk::cost_us(const Choices& choices) const {
  const StepCosts& host = planner_.host_costs();
  double sum = 0, on_host = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!choices[i].runs_again) continue;
    sum += regions()[i].cost_us + (choices[i].kept.empty() ? 0 : regions()[i].policy_us);
    for (const int call : choices[i].kept)
      sum -= regions()[i].calls[static_cast<std::size_t>(call)].cost_us;
    if (!host.regions.empty()) on_host += host_cost_us(host.regions[i], i, choices[i]);
  }
  return std::max(sum, on_host - host.free_us);
}

/// The two cost tables name their calls alike but may order them differently.
double PlanWalk::host_cost_us(const RegionCosts& on_host, std::size_t region,
                              const Choice& choice) const {
  double sum = on_host.cost_us + (choice.kept.empty() ? 0 : on_host.policy_us);
  for (const int call : choice.kept) {
    const KeptCall& name = regions()[region].calls[static_cast<std::size_t>(call)].call;
    const auto found = std::ranges::lower_bound(on_host.calls, name, {},
                                                [](const KeepableCall& one) { return one.call; });
    if (found != on_host.calls.end() && found->call == name) sum -= found->cost_us;
  }
  return sum;
}

/// Toggles one call of one region, or the same call of all equal regions.
void PlanWalk::keep_or_not(Choices& choices) {
  const std::size_t region = some(choices.size());
  if (regions()[region].calls.empty()) {
    choices[region].runs_again = !choices[region].runs_again;
    return;
  }
  const int call = static_cast<int>(some(regions()[region].calls.size()));
  const bool keeps = !std::ranges::binary_search(choices[region].kept, call);
  const bool of_all = some(of_all_one_in) == 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i != region && !(of_all && choices[i].runs_again && are_alike(i, region))) continue;
    std::vector<int>& kept = choices[i].kept;
    const auto place = std::ranges::lower_bound(kept, call);
    const bool is_kept = place != kept.end() && *place == call;
    if (keeps && !is_kept)
      kept.insert(place, call);
    else if (!keeps && is_kept)
      kept.erase(place);
  }
}

PlanWalk::Choices PlanWalk::changed() {
  Choices choices = at_;
  for (std::size_t moves = 1 + some(most_changes); moves > 0; --moves) {
    const std::size_t region = some(choices.size()), other = some(choices.size());
    switch (some(6)) {
      case 0:
        choices[region].runs_again = !choices[region].runs_again;
        break;
      case 1:
        if (are_alike(region, other)) choices[region] = choices[other];
        break;
      case 2:
        if (are_alike(region, other)) std::swap(choices[region], choices[other]);
        break;
      default:
        keep_or_not(choices);
    }
  }
  return choices;
}

void PlanWalk::step(double temperature_us) {
  const Choices choices = changed();
  const double cost = cost_us(choices);
  const double chance = (static_cast<double>(some(chances)) + 1) / chances;
  const double most_us = value_us_ - temperature_us * std::log(chance);
  if (cost > most_us) return;
  const CheckpointPlan plan = plan_of(choices);
  const std::optional<std::int64_t> reserved = planner_.try_up_to(
      plan, budget_bytes_,
      budget_bytes_ + static_cast<std::int64_t>((most_us - cost) / us_per_byte_));
  if (!reserved) return;
  at_ = choices;
  value_us_ = cost + us_per_byte_ *
                         static_cast<double>(std::max<std::int64_t>(*reserved - budget_bytes_, 0));
}

}  // namespace symprof::plan
