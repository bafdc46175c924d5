// Lower bounds of all plans of single regions and what they need: recordings of recomputed regions,
// the step composed of them, and the integer programs over both.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.h"
#include "plan/checkpoint/expected_plans.h"
#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/pool_program.h"
#include "plan/checkpoint/pool_rows.h"
#include "plan/checkpoint/sure_costs.h"

namespace symprof::plan {
namespace {

/// A plan costs the larger of the device's time for recomputation and the host's time beyond its
/// slack, so any convex combination of both is a lower bound. These are the weights of the host
/// with which plans are searched; the integer program has both costs.
constexpr std::array host_parts{1.0, 0.5, 0.25, 0.12, 0.06};
/// Bounds of all blocks and of large ones (sure_costs.h): small blocks rarely need more.
constexpr std::size_t most_bounds_blended = 2;
/// Work of the integer program that gives a bound (PoolProgram), at first and where it is not
/// tight.
constexpr std::ptrdiff_t most_work_of_bound = 120'000'000, most_work_of_proof = 400'000'000;
constexpr double any_cost = std::numeric_limits<double>::infinity();

}  // namespace

/// One for each of host_parts; none where no plan makes the step wait for the host, or every plan
/// does.
std::vector<StepCosts> CheckpointPlanner::blended_costs(const Recording& again,
                                                        const std::vector<std::string>& modules,
                                                        const std::vector<HeldBytes>& held_bytes) {
  const HostCosts host = trial_.host_costs(again);
  std::vector<StepCosts> blended;
  if (host.slack_us <= 0) return blended;
  for (const double part : host_parts) {
    std::vector<double> costs_us = trial_.costs_us(again);
    for (std::size_t i = 0; i < costs_us.size(); ++i)
      costs_us[i] = part * host.us[i] + (1 - part) * costs_us[i];
    StepCosts costs = costs_of_step(plain_recording_, again, modules, held_bytes, costs_us,
                                    part * host.policy_us);
    costs.free_us = part * host.slack_us;
    double most_us = 0;
    for (RegionCosts& region : costs.regions) {
      most_us += region.cost_us + region.policy_us;
      if (!keeps_calls_) region.calls.clear();
    }
    if (most_us <= costs.free_us) break;
    blended.push_back(std::move(costs));
  }
  return blended;
}

void CheckpointPlanner::find_bound(const Recording& again, const std::vector<std::string>& modules,
                                   const std::vector<HeldBytes>& held_bytes) {
  const StepCosts& costs = selector_->costs();
  if (costs.regions.empty()) return;
  try {
    const Recording even = trial_.record(every_second(costs, 0)),
                    odd = trial_.record(every_second(costs, 1));
    const SharedSteps steps(costs, {plain_recording_, again, even, odd}, modules);
    if (!steps.are_alike()) return;
    const std::vector<WeighedStep> weighed = weighed_steps(again);
    for (StepCosts& sure : sure_costs(costs, steps, held_bytes, weighed))
      bounds_.emplace_back(std::move(sure));
    for (const StepCosts& blended : blended_costs(again, modules, held_bytes)) {
      if (host_costs_.regions.empty()) host_costs_ = blended;
      const std::vector<WeighedStep> first(
          weighed.begin(), weighed.begin() + std::min<std::ptrdiff_t>(std::ssize(weighed), 1));
      std::vector<StepCosts> sure = sure_costs(blended, steps, held_bytes, first);
      sure.resize(std::min(sure.size(), most_bounds_blended));
      for (StepCosts& one : sure) {
        one.free_us = blended.free_us;
        bounds_.emplace_back(std::move(one));
      }
    }
    program_ = std::make_unique<PoolProgram>(
        costs, host_costs_, pool_rows(costs, steps, held_bytes, weighed),
        (plain().peaks.reserved_bytes + all_again().peaks.reserved_bytes) / 2,
        plain_recording_.calls.size());
    if (again.rank) return;  // Distributed engines allocate and free at other moments, too.
    expected_ = std::make_unique<ExpectedPlans>(
        trial_, ComposedStep(steps, trial_.costs_us(again), trial_.host_costs(again)),
        trial_.small_segments_bytes(again, all_again().peaks));
    if (!is_as_expected({.plan = every_second(costs, 0), .peaks = trial_.peaks(even)}) ||
        !is_as_expected({.plan = every_second(costs, 1), .peaks = trial_.peaks(odd)}) ||
        !is_as_expected(plain()) || !is_as_expected(all_again()))
      expected_.reset();
  } catch (const Error&) {
    // Some modules can only be recomputed together: no bound is known.
  }
}

std::vector<WeighedStep> CheckpointPlanner::weighed_steps(const Recording& again) {
  std::vector<WeighedStep> weighed;
  for (profile::PoolWeights& weights : trial_.segment_weights(again, plain_recording_))
    weighed.push_back({weights, trial_.held_weights(plain_recording_, weights)});
  return weighed;
}

bool CheckpointPlanner::is_possible(std::int64_t budget_bytes) const {
  return bounds_.empty() || host_ || least_cost_us(budget_bytes);
}

const std::vector<std::optional<double>>& CheckpointPlanner::least_costs_us(
    std::int64_t budget_bytes) const {
  const auto [known, is_new] = least_costs_.try_emplace(budget_bytes);
  if (is_new) {
    for (const Selector& bound : bounds_)
      known->second.push_back(bound.least_cost_us(budget_bytes));
    if (program_) known->second.push_back(least_of_program_us(budget_bytes, most_work_of_bound));
  }
  return known->second;
}

std::optional<double> CheckpointPlanner::least_cost_us(std::int64_t budget_bytes) const {
  double least = 0;
  for (const std::optional<double>& cost : least_costs_us(budget_bytes)) {
    if (!cost) return std::nullopt;
    least = std::max(least, *cost);
  }
  // A bound proved for one budget holds for all smaller ones.
  for (auto proven = proven_us_.lower_bound(budget_bytes); proven != proven_us_.end(); ++proven)
    least = std::max(least, proven->second);
  return least;
}

std::optional<PoolNeed> CheckpointPlanner::need_of(const CheckpointPlan& plan) const {
  return expected_ && expected_->has(plan) ? std::optional(expected_->need(plan)) : std::nullopt;
}

std::optional<double> CheckpointPlanner::least_of_program_us(std::int64_t budget_bytes,
                                                             std::ptrdiff_t most_work) const {
  const auto need = [this](const CheckpointPlan& plan) { return need_of(plan); };
  return program_->solve(budget_bytes, most_work, need, budget_bytes).least_us;
}

void CheckpointPlanner::prove(std::int64_t budget_bytes) {
  if (const auto least_us = least_of_program_us(budget_bytes, most_work_of_proof))
    proven_us_[budget_bytes] = *least_us;
}

std::optional<Window> CheckpointPlanner::least_window() const {
  std::optional<Window> least;
  for (const Selector& bound : bounds_)
    if (const Window window = bound.least_window(); !least || window.bytes > least->bytes)
      least = window;
  return least;
}

std::vector<const Selector*> CheckpointPlanner::strictest_first(std::int64_t budget_bytes) const {
  if (bounds_.empty()) return {selector_.get()};
  const std::vector<std::optional<double>>& costs = least_costs_us(budget_bytes);
  std::vector<const Selector*> selectors;
  for (const Selector& bound : bounds_) selectors.push_back(&bound);
  std::ranges::stable_sort(selectors, std::ranges::greater(), [&](const Selector* bound) {
    return costs[static_cast<std::size_t>(bound - bounds_.data())].value_or(any_cost);
  });
  return selectors;
}

}  // namespace symprof::plan
