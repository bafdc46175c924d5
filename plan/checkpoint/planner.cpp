#include "plan/checkpoint/planner.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "plan/checkpoint/budget_search.h"
#include "plan/checkpoint/expected_plans.h"
#include "plan/checkpoint/host_wait.h"
#include "plan/checkpoint/plan_ladder.h"
#include "plan/checkpoint/plan_walk.h"
#include "plan/checkpoint/pool_programme.h"
#include "plan/checkpoint/pool_rows.h"
#include "plan/checkpoint/sure_costs.h"
#include "profile/policy_calls.h"

namespace symprof::plan {
namespace {

/// Steps of more calls are searched with the strictest bound alone: each plan takes long.
constexpr std::size_t most_calls_searched_on = 1'500;
/// A budget is searched in so many parts where what was found may be further from the best than
/// that share of the step.
constexpr int parts_below = 4;
constexpr double worth_searching_below = 0.03;
/// A plan costs the device's time for what runs again, or the host's without what it has to spare,
/// whichever is more: so no less than a part of the one and the rest of the other. The host's
/// parts, by which plans are searched; the integer programme has both costs.
constexpr std::array host_parts{1.0, 0.5, 0.25, 0.12, 0.06};
/// Of all blocks, and of large ones (sure_costs.h): what small ones need is seldom more.
constexpr std::size_t most_bounds_blended = 2;
/// For the integer programme of a bound (PoolProgramme).
constexpr std::ptrdiff_t most_work_of_bound = 120'000'000;
constexpr double any_cost = std::numeric_limits<double>::infinity();

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

/// Plans that the bound is about.
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
  // Where the step waits for the host as it is, policies cost all of their time.
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
  return played_.size() + (expected_ ? expected_->size() : 0);
}

/// A region's input is what the one before it makes, and the first's is taken to be as large as
/// what it makes itself.
void CheckpointPlanner::add_host_costs(StepCosts& costs, const std::vector<std::string>& modules) {
  CheckpointPlan plan = all_of(modules);
  plan.offloaded = modules;
  const PlayedPlan& played = add(plan, trial_.record(plan));
  if (played.offloaded_bytes == 0) return;
  const double us = played.cost_us - all_again().cost_us;
  if (us <= 0)
    throw Error(SettingRef{"offload"}, "nothing says how long a copy to the host takes.",
                "Choose a device whose file has the rate of its link.");
  for (std::size_t i = 0; i < costs.regions.size(); ++i) {
    costs.regions[i].input_bytes = costs.regions[i == 0 ? 0 : i - 1].output_bytes;
    costs.regions[i].host_us_per_byte = us / static_cast<double>(played.offloaded_bytes);
  }
}

/// Copies to the host and back are calls of their own.
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

/// One for each of host_parts; none where no plan makes the step wait for the host, or every one
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
    programme_ = std::make_unique<PoolProgramme>(
        costs, host_costs_, pool_rows(costs, steps, held_bytes, weighed),
        (plain().peaks.reserved_bytes + all_again().peaks.reserved_bytes) / 2);
    if (again.rank) return;  // Engines take and give back at other times, too.
    expected_ = std::make_unique<ExpectedPlans>(
        trial_, ComposedStep(steps, trial_.costs_us(again), trial_.host_costs(again)),
        all_again().peaks.small_segments_bytes);
    if (!is_as_expected({.plan = every_second(costs, 0), .peaks = trial_.peaks(even)}) ||
        !is_as_expected({.plan = every_second(costs, 1), .peaks = trial_.peaks(odd)}) ||
        !is_as_expected(plain()) || !is_as_expected(all_again()))
      expected_.reset();
  } catch (const Error&) {
    // Modules that only run again together: nothing is known.
  }
}

std::vector<WeighedStep> CheckpointPlanner::weighed_steps(const Recording& again) {
  std::vector<WeighedStep> weighed;
  for (profile::PoolWeights& weights : trial_.segment_weights(again, plain_recording_))
    weighed.push_back({weights, trial_.held_weights(plain_recording_, weights)});
  return weighed;
}

bool CheckpointPlanner::is_as_expected(const PlayedPlan& played) {
  const StepPeaks expected = expected_->peaks(played.plan);
  return expected.allocated_bytes == played.peaks.allocated_bytes &&
         expected.reserved_bytes == played.peaks.reserved_bytes;
}

const PlayedPlan& CheckpointPlanner::add(const CheckpointPlan& plan, const Recording& recording) {
  by_text_.emplace(key_of(plan), played_.size());
  played_.push_back({.plan = plan,
                     .cost_us = cost_of(plan, recording),
                     .recompute_flops = trial_.recompute_flops(recording),
                     .peaks = trial_.peaks(recording),
                     .offloaded_bytes = offloaded_bytes(recording)});
  return played_.back();
}

const PlayedPlan& CheckpointPlanner::play(const CheckpointPlan& plan) {
  const auto known = by_text_.find(key_of(plan));
  if (known != by_text_.end()) return played_[known->second];
  return add(plan, trial_.record(plan));
}

const PlayedPlan& CheckpointPlanner::play_within(const CheckpointPlan& plan,
                                                 std::int64_t budget_bytes) {
  const auto known = by_text_.find(key_of(plan));
  std::optional<Recording> recording;
  if (known == by_text_.end()) add(plan, recording.emplace(trial_.record(plan)));
  const std::size_t at = known == by_text_.end() ? played_.size() - 1 : known->second;
  Reserved& reserved = reserved_[at];
  if (played_[at].peaks.reserved_bytes <= budget_bytes ||
      played_[at].peaks.allocated_bytes > budget_bytes || reserved.refused.contains(budget_bytes))
    return played_[at];
  if (reserved.held && played_[*reserved.held].budget_bytes() <= budget_bytes)
    return played_[*reserved.held];
  if (!recording) recording = trial_.record(plan);
  const std::optional<ReservedStep> found = trial_.reserve(
      *recording, budget_bytes, played_[at].peaks.small_segments_bytes, budget_bytes);
  if (!found) {
    reserved.refused.insert(budget_bytes);
    return played_[at];
  }
  reserved.held = played_.size();
  PlayedPlan other = played_[at];
  other.peaks = found->peaks;
  other.up_front_bytes = found->up_front_bytes;
  return played_.emplace_back(std::move(other));
}

bool CheckpointPlanner::play_in_parts(const CheckpointPlan& plan, std::int64_t budget_bytes,
                                      std::ptrdiff_t& most_requests) {
  const std::optional<ReservedStep> found =
      trial_.reserve_in_parts(trial_.record(plan), budget_bytes, most_requests);
  if (!found || found->peaks.reserved_bytes > budget_bytes) return false;
  PlayedPlan other = play(plan);
  other.peaks = found->peaks;
  other.up_front_bytes = found->up_front_bytes;
  played_.push_back(std::move(other));
  return true;
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
  const PlayedPlan* played = best_played(budget_bytes);
  const ExpectedPlans::Candidate* expected =
      expected_ ? expected_->best_within(budget_bytes) : nullptr;
  if (expected && (!played || expected->cost_us < played->cost_us))
    return TriedPlan{expected->plan, expected->cost_us};
  return played ? std::optional(TriedPlan{played->plan, played->cost_us}) : std::nullopt;
}

const PlayedPlan* CheckpointPlanner::best_played(std::int64_t budget_bytes) const {
  const PlayedPlan* best = nullptr;
  for (const PlayedPlan& played : played_) {
    if (!joins_modules_ && joins_modules(played.plan)) continue;
    if (played.budget_bytes() <= budget_bytes && (!best || played.cost_us < best->cost_us))
      best = &played;
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
    const PlayedPlan* played = best_played(budget_bytes);
    if (!expected || (played && played->cost_us < expected->cost_us + BudgetSearch::least_gain_us))
      return;
    if (play_within(expected->plan, expected->asked_bytes).budget_bytes() > budget_bytes &&
        play_within(expected->plan, budget_bytes).budget_bytes() > budget_bytes)
      expected_->refute(*expected);
  }
}

PlanAnswer CheckpointPlanner::answer(std::int64_t budget_bytes) {
  if (!is_possible(budget_bytes) || try_within({}, budget_bytes) <= budget_bytes)
    return known_answer(budget_bytes);
  if (programme_) {
    PlanLadder ladder(*this, *programme_, budget_bytes);
    ladder.climb_down();
    ladder.try_in_parts();
  }
  for (const Selector* selector : strictest_first(budget_bytes)) {
    if (is_good_enough(budget_bytes, BudgetSearch::worth_varying)) break;
    BudgetSearch(*this, *selector, budget_bytes).run();
    if (plain_recording_.calls.size() > most_calls_searched_on) break;
  }
  if (!is_good_enough(budget_bytes, BudgetSearch::worth_varying))
    PlanWalk(*this, budget_bytes).run();
  search_below(budget_bytes);
  if (host_) BudgetSearch(*this, *host_, budget_bytes).bisect();
  return known_answer(budget_bytes);
}

/// Where only much less than the budget makes the allocator take a segment less, a search within
/// less finds what one within the budget misses.
void CheckpointPlanner::search_below(std::int64_t budget_bytes) {
  if (plain_recording_.calls.size() > most_calls_searched_on) return;
  const std::int64_t most_less = budget_bytes - all_again().peaks.reserved_bytes;
  for (int part = 1; part < parts_below && !is_good_enough(budget_bytes, worth_searching_below);
       ++part) {
    const std::int64_t less = budget_bytes - most_less * part / parts_below;
    if (less >= budget_bytes || !is_possible(less)) return;
    BudgetSearch(*this, *strictest_first(less).front(), less).run();
  }
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
    if (programme_)
      known->second.push_back(programme_->solve(budget_bytes, most_work_of_bound).least_us);
  }
  return known->second;
}

std::optional<double> CheckpointPlanner::least_cost_us(std::int64_t budget_bytes) const {
  double least = 0;
  for (const std::optional<double>& cost : least_costs_us(budget_bytes)) {
    if (!cost) return std::nullopt;
    least = std::max(least, *cost);
  }
  return least;
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

PlanAnswer CheckpointPlanner::known_answer(std::int64_t budget_bytes) {
  confirm(budget_bytes);
  PlanAnswer answer{.budget_bytes = budget_bytes};
  if (const PlayedPlan* best = best_played(budget_bytes)) answer.best = *best;
  if (bounds_.empty() || host_) return answer;
  answer.least_cost_us = least_cost_us(budget_bytes);
  answer.is_impossible = !answer.least_cost_us;
  if (answer.best && is_of_single_regions(answer.best->plan) &&
      answer.best->cost_us < answer.least_cost_us.value_or(answer.best->cost_us + 1)) {
    answer.least_cost_us.reset();  // A bound that a plan refutes is none.
    answer.is_impossible = false;
  }
  return answer;
}

}  // namespace symprof::plan
