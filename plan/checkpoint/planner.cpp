#include "plan/checkpoint/planner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "plan/checkpoint/expected_plans.h"
#include "plan/checkpoint/host_wait.h"
#include "plan/checkpoint/pool_program.h"
#include "profile/policy_calls.h"

namespace symprof::plan {
namespace {

double sum_of(const std::vector<double>& costs) {
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

std::int64_t offloaded_bytes(const Recording& recording) {
  std::int64_t bytes = 0;
  for (const StorageRecord& storage : recording.storages)
    if (storage.kind == StorageKind::offloaded) bytes += storage.bytes;
  return bytes;
}

CheckpointPlan all_of(const std::vector<std::string>& modules) {
  CheckpointPlan plan;
  plan.regions.reserve(modules.size());
  for (const std::string& module : modules) plan.regions.push_back({.modules = {module}});
  return plan;
}

SimulatedPlan reserved_as(SimulatedPlan simulated, const ReservedStep& step) {
  simulated.peaks = step.peaks;
  simulated.up_front_bytes = step.up_front_bytes;
  simulated.warm_start = step.warm_start;
  return simulated;
}

/// True for plans that the lower bound covers.
bool is_of_single_regions(const CheckpointPlan& plan) {
  return plan.offloaded.empty() && !joins_modules(plan);
}

}  // namespace

bool joins_modules(const CheckpointPlan& plan) {
  return std::ranges::any_of(
      plan.regions, [](const CheckpointRegion& region) { return region.modules.size() > 1; });
}

CheckpointPlanner::CheckpointPlanner(CheckpointTrial& trial,
                                     const std::vector<std::string>& modules,
                                     const PlannerOptions& options)
    : trial_(trial),
      keeps_calls_(options.keeps_calls),
      joins_modules_(options.joins_modules),
      step_us_(options.step_us),
      plain_recording_(trial.record({})) {
  if (options.offloads) plain_cost_us_ = sum_of(trial.costs_us(plain_recording_));
  add({}, plain_recording_);
  const CheckpointPlan all = all_of(modules);
  const Recording again = trial.record(all);
  add(all, again);
  const std::vector<HeldBytes> held_bytes = trial.held_bytes(plain_recording_);
  const HostCosts host = trial.host_costs(again);
  // If the step already waits for the host, policies cost all of their time.
  StepCosts costs = costs_of_step(plain_recording_, again, modules, held_bytes,
                                  trial.costs_us(again), host.slack_us > 0 ? 0 : host.policy_us);
  choose_sides(costs, plain_recording_, again, modules);
  if (!options.keeps_calls)
    for (RegionCosts& region : costs.regions) region.calls.clear();
  selector_ = std::make_unique<Selector>(costs);
  find_bound(again, modules, held_bytes);
  if (!options.offloads) return;
  add_host_costs(costs, modules);
  host_ = std::make_unique<Selector>(std::move(costs));
}

CheckpointPlanner::~CheckpointPlanner() = default;

std::size_t CheckpointPlanner::plans_tried() const {
  return simulated_.size() + (expected_ ? expected_->size() : 0);
}

/// A region's input is the output of the region before it; the first region's input is assumed to
/// be as large as its own output.
void CheckpointPlanner::add_host_costs(StepCosts& costs, const std::vector<std::string>& modules) {
  CheckpointPlan plan = all_of(modules);
  plan.offloaded = modules;
  const SimulatedPlan& simulated = add(plan, trial_.record(plan));
  if (simulated.offloaded_bytes == 0) return;
  const double us = simulated.cost_us - all_again().cost_us;
  if (us <= 0)
    throw Error(SettingRef{"offload"}, "nothing says how long a copy to the host takes.",
                "Choose a device whose file has the rate of its link.");
  for (std::size_t i = 0; i < costs.regions.size(); ++i) {
    costs.regions[i].input_bytes = costs.regions[i == 0 ? 0 : i - 1].output_bytes;
    costs.regions[i].host_us_per_byte = us / static_cast<double>(simulated.offloaded_bytes);
  }
}

/// Copies to the host and back are separate calls.
double CheckpointPlanner::cost_of(const CheckpointPlan& plan, const Recording& recording) const {
  const std::vector<double> costs = trial_.costs_us(recording);
  const HostCosts host = trial_.host_costs(recording);
  double again_us = 0, issue_us = 0;
  for (std::size_t i = 0; i < recording.calls.size(); ++i)
    if (recording.calls[i].phase == Phase::recompute) again_us += costs[i], issue_us += host.us[i];
  const auto with_policy = static_cast<std::size_t>(
      std::ranges::count(profile::calls_with_policy(recording, plan), true));
  const double wait_us = host_wait_us(host, again_us, issue_us, with_policy);
  if (!plan.offloaded.empty()) return std::max(sum_of(costs) - plain_cost_us_, 0.0) + wait_us;
  return again_us + wait_us;
}

bool CheckpointPlanner::is_as_expected(const SimulatedPlan& simulated) {
  const StepPeaks expected = expected_->peaks(simulated.plan);
  return expected.allocated_bytes == simulated.peaks.allocated_bytes &&
         expected.reserved_bytes == simulated.peaks.reserved_bytes;
}

const SimulatedPlan& CheckpointPlanner::add(const CheckpointPlan& plan,
                                            const Recording& recording) {
  by_text_.emplace(key_of(plan), simulated_.size());
  simulated_.push_back({.plan = plan,
                        .cost_us = cost_of(plan, recording),
                        .recompute_flops = trial_.recompute_flops(recording),
                        .peaks = trial_.peaks(recording),
                        .offloaded_bytes = offloaded_bytes(recording)});
  return simulated_.back();
}

const SimulatedPlan& CheckpointPlanner::play(const CheckpointPlan& plan) {
  const auto known = by_text_.find(key_of(plan));
  if (known != by_text_.end()) return simulated_[known->second];
  return add(plan, trial_.record(plan));
}

const SimulatedPlan& CheckpointPlanner::play_within(const CheckpointPlan& plan,
                                                    std::int64_t budget_bytes) {
  const auto known = by_text_.find(key_of(plan));
  std::optional<Recording> recording;
  if (known == by_text_.end()) add(plan, recording.emplace(trial_.record(plan)));
  const std::size_t at = known == by_text_.end() ? simulated_.size() - 1 : known->second;
  Reserved& reserved = reserved_[at];
  if (simulated_[at].peaks.reserved_bytes <= budget_bytes ||
      simulated_[at].peaks.allocated_bytes > budget_bytes ||
      reserved.refused.contains(budget_bytes))
    return simulated_[at];
  if (reserved.held && simulated_[*reserved.held].budget_bytes() <= budget_bytes)
    return simulated_[*reserved.held];
  if (!recording) recording = trial_.record(plan);
  const std::optional<ReservedStep> found =
      trial_.reserve(*recording, budget_bytes,
                     trial_.small_segments_bytes(*recording, simulated_[at].peaks), budget_bytes);
  if (!found) {
    reserved.refused.insert(budget_bytes);
    return simulated_[at];
  }
  reserved.held = simulated_.size();
  return simulated_.emplace_back(reserved_as(simulated_[at], *found));
}

std::int64_t CheckpointPlanner::try_within(const CheckpointPlan& plan, std::int64_t budget_bytes) {
  return expected_ && expected_->has(plan) ? expected_->budget_of(plan, budget_bytes)
                                           : play_within(plan, budget_bytes).budget_bytes();
}

std::optional<double> CheckpointPlanner::expected_cost_us(const CheckpointPlan& plan) {
  return expected_ && expected_->has(plan) ? std::optional(expected_->cost_us(plan)) : std::nullopt;
}

std::optional<std::int64_t> CheckpointPlanner::try_up_to(const CheckpointPlan& plan,
                                                         std::int64_t budget_bytes,
                                                         std::int64_t most_bytes) {
  if (!expected_ || !expected_->has(plan)) return std::nullopt;
  return expected_->reserved_up_to(plan, budget_bytes, most_bytes);
}

std::optional<TriedPlan> CheckpointPlanner::best_tried(std::int64_t budget_bytes) const {
  const SimulatedPlan* simulated = best_simulated(budget_bytes);
  const ExpectedPlans::Candidate* expected =
      expected_ ? expected_->best_within(budget_bytes) : nullptr;
  if (expected && (!simulated || expected->cost_us < simulated->cost_us))
    return TriedPlan{expected->plan, expected->cost_us};
  return simulated ? std::optional(TriedPlan{simulated->plan, simulated->cost_us}) : std::nullopt;
}

const SimulatedPlan* CheckpointPlanner::best_simulated(std::int64_t budget_bytes) const {
  const SimulatedPlan* best = nullptr;
  for (const SimulatedPlan& simulated : simulated_) {
    if (!joins_modules_ && joins_modules(simulated.plan)) continue;
    if (simulated.budget_bytes() <= budget_bytes && (!best || simulated.cost_us < best->cost_us))
      best = &simulated;
  }
  return best;
}

bool CheckpointPlanner::is_good_enough(std::int64_t budget_bytes, double share) const {
  const std::optional<TriedPlan> tried = best_tried(budget_bytes);
  return tried && tried->cost_us <= least_cost_us(budget_bytes).value_or(0.0) + share * step_us_;
}

void CheckpointPlanner::confirm(std::int64_t budget_bytes) {
  while (expected_) {
    const ExpectedPlans::Candidate* expected = expected_->best_within(budget_bytes);
    const SimulatedPlan* simulated = best_simulated(budget_bytes);
    if (!expected || (simulated && simulated->cost_us < expected->cost_us + least_gain_us)) return;
    if (play_within(expected->plan, expected->asked_bytes).budget_bytes() > budget_bytes &&
        play_within(expected->plan, budget_bytes).budget_bytes() > budget_bytes)
      expected_->refute(*expected);
  }
}

PlanAnswer CheckpointPlanner::known_answer(std::int64_t budget_bytes) {
  confirm(budget_bytes);
  PlanAnswer answer{.budget_bytes = budget_bytes};
  if (const SimulatedPlan* best = best_simulated(budget_bytes)) answer.best = *best;
  if (bounds_.empty() || host_) return answer;
  answer.least_cost_us = least_cost_us(budget_bytes);
  answer.is_impossible = !answer.least_cost_us;
  if (answer.best && is_of_single_regions(answer.best->plan) &&
      answer.best->cost_us < answer.least_cost_us.value_or(answer.best->cost_us + 1)) {
    answer.least_cost_us.reset();  // A bound that a plan refutes is invalid.
    answer.is_impossible = false;
  }
  return answer;
}

}  // namespace symprof::plan
