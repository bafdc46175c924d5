#include "plan/checkpoint/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "plan/checkpoint/sure_costs.h"

namespace symprof::plan {
namespace {

/// Plans that are carried out for one budget.
constexpr int most_plays = 16;
constexpr std::size_t least_choices = 24, most_choice_calls = 100'000, most_even = 12;
constexpr int most_between = 8;
/// Varied plans, and the calls of the steps in which they are carried out together.
constexpr std::size_t most_varied = 40, most_varied_calls = 20'000;
constexpr double golden_ratio = 0.618033988749895;
constexpr double any_cost = std::numeric_limits<double>::infinity();
/// Shares: of the budget, below which it makes no sense to search on; of the step, by which another
/// plan may be better than one that ends the search.
constexpr double finest_step = 0.001, good_enough = 0.001, worth_varying = 0.005;

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
  return plan.offloaded.empty() &&
         std::ranges::all_of(plan.regions, [](const CheckpointRegion& region) {
           return region.modules.size() == 1;
         });
}

}  // namespace

CheckpointPlanner::CheckpointPlanner(CheckpointTrial& trial,
                                     const std::vector<std::string>& modules,
                                     const PlannerOptions& options)
    : trial_(trial), step_us_(options.step_us), plain_recording_(trial.record({})) {
  if (options.offloads) plain_cost_us_ = sum_of(trial.costs_us(plain_recording_));
  add({}, plain_recording_);
  const CheckpointPlan all = all_of(modules);
  const Recording again = trial.record(all);
  add(all, again);
  const std::vector<std::int64_t> held_bytes = trial.held_bytes(plain_recording_);
  StepCosts costs =
      costs_of_step(plain_recording_, again, modules, held_bytes, trial.costs_us(again));
  if (!options.keeps_calls)
    for (RegionCosts& region : costs.regions) region.calls.clear();
  selector_ = std::make_unique<Selector>(costs);
  find_bound(again, modules, held_bytes);
  if (!options.offloads) return;
  add_host_costs(costs, modules);
  host_ = std::make_unique<Selector>(std::move(costs));
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
  if (!plan.offloaded.empty()) return std::max(sum_of(costs) - plain_cost_us_, 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < recording.calls.size(); ++i)
    if (recording.calls[i].phase == Phase::recompute) sum += costs[i];
  return sum;
}

void CheckpointPlanner::find_bound(const Recording& again, const std::vector<std::string>& modules,
                                   const std::vector<std::int64_t>& held_bytes) {
  const StepCosts& costs = selector_->costs();
  if (costs.regions.empty()) return;
  try {
    const Recording even = trial_.record(every_second(costs, 0)),
                    odd = trial_.record(every_second(costs, 1));
    if (std::optional<StepCosts> sure =
            sure_costs(costs, {plain_recording_, again, even, odd}, modules, held_bytes))
      bound_ = std::make_unique<Selector>(std::move(*sure));
  } catch (const Error&) {
    // Modules that only run again together: nothing is known.
  }
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
  Limits& limits = limits_[at];
  if (played_[at].peaks.reserved_bytes <= budget_bytes ||
      played_[at].peaks.allocated_bytes > budget_bytes || budget_bytes <= limits.refused)
    return played_[at];
  if (limits.held && played_[*limits.held].budget_bytes() <= budget_bytes)
    return played_[*limits.held];
  if (!recording) recording = trial_.record(plan);
  const std::optional<StepPeaks> peaks = trial_.peaks_within(*recording, budget_bytes);
  if (!peaks) {
    limits.refused = budget_bytes;
    return played_[at];
  }
  limits.held = played_.size();
  PlayedPlan limited = played_[at];
  limited.peaks = *peaks;
  limited.limit_bytes = budget_bytes;
  return played_.emplace_back(std::move(limited));
}

CheckpointPlan CheckpointPlanner::plan_of(const Selector& selector, const Selection& selection) {
  CheckpointPlan plan;
  for (std::size_t i = 0; i < selection.patterns.size(); ++i) {
    const RegionCosts& region = selector.costs().regions[i];
    const Pattern& pattern =
        selector.frontier(i).patterns[static_cast<std::size_t>(selection.patterns[i])];
    if (pattern.is_on_host) plan.offloaded.push_back(region.module);
    if (!pattern.runs_again) continue;
    CheckpointRegion& chosen = plan.regions.emplace_back();
    chosen.modules = {region.module};
    for (const int call : pattern.kept)
      chosen.kept.push_back(region.calls[static_cast<std::size_t>(call)].call);
  }
  return plan;
}

bool CheckpointPlanner::is_good_enough(const PlanAnswer& answer, double share) const {
  return answer.best &&
         answer.best->cost_us <= answer.least_cost_us.value_or(0.0) + share * step_us_;
}

/// The allocator decides: where it wants more than the budget, a plan for less is asked for. Then
/// the smallest such reduction is searched.
std::optional<double> CheckpointPlanner::search(const Selector& selector,
                                                std::int64_t budget_bytes) {
  const auto budget = static_cast<double>(budget_bytes);
  double refused = 0, reduction = 0;
  std::optional<double> held;
  for (int plays = 0; plays < most_plays && reduction < budget; ++plays) {
    const PlayedPlan& played = play_within(
        plan_of(selector, selector.select(budget_bytes - static_cast<std::int64_t>(reduction))),
        budget_bytes);
    const double excess = static_cast<double>(played.budget_bytes()) - budget;
    if (excess <= 0) {
      held = reduction;
      if (reduction == 0 || is_good_enough(known_answer(budget_bytes), good_enough))
        return std::nullopt;
    } else {
      refused = std::max(refused, reduction);
    }
    if (held && *held - refused < finest_step * budget) break;
    reduction = held ? (refused + *held) / 2 : reduction + std::max(excess, finest_step * budget);
  }
  return held;
}

/// What a plan reserves beyond its tensors differs from plan to plan, so that some which cost less
/// than the best may hold, too: those for a little more memory, and those that treat equal modules
/// equally, whose blocks fit into each other's places.
void CheckpointPlanner::try_others(const Selector& selector, std::int64_t budget_bytes,
                                   double reduction) {
  const auto holds = [&](const Selection& selection) {
    return play_within(plan_of(selector, selection), budget_bytes).budget_bytes() <= budget_bytes;
  };
  for (int i = 1; i <= most_between; ++i) {
    const double less = reduction * (1 - static_cast<double>(i) / (most_between + 1));
    holds(selector.select(budget_bytes - static_cast<std::int64_t>(less)));
  }
  const PlanAnswer known = known_answer(budget_bytes);
  if (!known.best || is_good_enough(known, good_enough)) return;
  const Selection base = selector.select(budget_bytes - static_cast<std::int64_t>(reduction));
  std::vector<Selection> even =
      selector.evened(base, known.least_cost_us.value_or(0.0), known.best->cost_us);
  const std::size_t step = std::max<std::size_t>(even.size() / most_even, 1);
  for (std::size_t i = 0; i < even.size(); i += step)
    if (holds(even[i])) return;
}

/// Others of about the least cost, each of which may leave other holes.
void CheckpointPlanner::vary(const Selector& selector, std::int64_t budget_bytes,
                             double reduction) {
  const std::size_t count = most_varied_calls / plain_recording_.calls.size();
  for (unsigned variation = 1; variation <= std::min(count, most_varied); ++variation) {
    const PlanAnswer known = known_answer(budget_bytes);
    if (is_good_enough(known, worth_varying)) return;
    const double share = std::fmod(variation * golden_ratio, 1);  // Evenly over all of it.
    const Selection other =
        selector.select(budget_bytes - static_cast<std::int64_t>(share * reduction), variation);
    if (!known.best || other.cost_us < known.best->cost_us)
      play_within(plan_of(selector, other), budget_bytes);
  }
}

void CheckpointPlanner::try_every_choice(std::int64_t budget_bytes) {
  const Selector& selector = bound_ ? *bound_ : *selector_;
  const PlanAnswer known = known_answer(budget_bytes);
  if (known.is_impossible) return;
  const double least = known.least_cost_us.value_or(0.0);
  double most = any_cost;
  if (known.best) most = known.best->cost_us;
  std::vector<Selection> choices = selector.choices_between(budget_bytes, least, most);
  const std::size_t most_choices =
      std::max(least_choices, most_choice_calls / plain_recording_.calls.size());
  if (choices.size() > most_choices) choices.resize(most_choices);
  for (const Selection& choice : choices)
    if (play_within(plan_of(selector, choice), budget_bytes).budget_bytes() <= budget_bytes) return;
}

PlanAnswer CheckpointPlanner::answer(std::int64_t budget_bytes) {
  if (known_answer(budget_bytes).is_impossible ||
      play_within({}, budget_bytes).budget_bytes() <= budget_bytes)
    return known_answer(budget_bytes);
  const Selector& single = bound_ ? *bound_ : *selector_;
  if (const std::optional<double> reduction = search(single, budget_bytes)) {
    try_others(single, budget_bytes, *reduction);
    vary(single, budget_bytes, *reduction);
  }
  try_every_choice(budget_bytes);
  if (host_) search(*host_, budget_bytes);
  return known_answer(budget_bytes);
}

std::optional<double> CheckpointPlanner::least_cost_us(std::int64_t budget_bytes) const {
  const auto [known, is_new] = least_costs_.try_emplace(budget_bytes);
  if (is_new) known->second = bound_->least_cost_us(budget_bytes);
  return known->second;
}

PlanAnswer CheckpointPlanner::known_answer(std::int64_t budget_bytes) const {
  PlanAnswer answer{.budget_bytes = budget_bytes};
  for (const PlayedPlan& played : played_)
    if (played.budget_bytes() <= budget_bytes &&
        (!answer.best || played.cost_us < answer.best->cost_us))
      answer.best = played;
  if (!bound_ || host_) return answer;
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
