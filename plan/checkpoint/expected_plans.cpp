#include "plan/checkpoint/expected_plans.h"

#include <algorithm>
#include <utility>

namespace symprof::plan {

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

ExpectedPlans::Tried& ExpectedPlans::remember(const CheckpointPlan& plan, const StepPeaks& peaks) {
  Tried& tried = tried_[key_of(plan)];
  tried.peaks = peaks;
  tried.cost_us = step_.cost_us();
  offer({tried.cost_us, peaks.reserved_bytes, plan});
  return tried;
}

ExpectedPlans::Tried& ExpectedPlans::try_out(const CheckpointPlan& plan) {
  const auto known = tried_.find(key_of(plan));
  return known != tried_.end() ? known->second : remember(plan, trial_.peaks(step_.compose(plan)));
}

StepPeaks ExpectedPlans::peaks(const CheckpointPlan& plan) { return try_out(plan).peaks; }

std::optional<StepPeaks> ExpectedPlans::peaks_up_to(const CheckpointPlan& plan,
                                                    std::int64_t reserved_bytes) {
  const std::string key = key_of(plan);
  if (const auto known = tried_.find(key); known != tried_.end()) {
    const StepPeaks& peaks = known->second.peaks;
    return peaks.reserved_bytes <= reserved_bytes ? std::optional(peaks) : std::nullopt;
  }
  std::int64_t& more_than = more_than_[key];
  if (reserved_bytes <= more_than) return std::nullopt;
  const std::optional<StepPeaks> peaks = trial_.peaks_up_to(step_.compose(plan), reserved_bytes);
  if (peaks)
    remember(plan, *peaks);
  else
    more_than = reserved_bytes;
  return peaks;
}

std::int64_t ExpectedPlans::budget_of(const CheckpointPlan& plan, std::int64_t budget_bytes) {
  Tried& tried = try_out(plan);
  const std::int64_t reserved = tried.peaks.reserved_bytes;
  if (reserved <= budget_bytes || tried.peaks.allocated_bytes > budget_bytes ||
      budget_bytes <= tried.refused)
    return reserved;
  if (tried.held && *tried.held <= budget_bytes) return *tried.held;
  if (!trial_.peaks_within(step_.compose(plan), budget_bytes)) {
    tried.refused = budget_bytes;
    return reserved;
  }
  tried.held = budget_bytes;
  offer({tried.cost_us, budget_bytes, plan});
  return budget_bytes;
}

const ExpectedPlans::Candidate* ExpectedPlans::best_within(std::int64_t budget_bytes) const {
  const auto after = best_.upper_bound(budget_bytes);
  return after == best_.begin() ? nullptr : &std::prev(after)->second;
}

void ExpectedPlans::refute(const Candidate& candidate) { best_.erase(candidate.budget_bytes); }

/// Only those that no other one beats are of use.
void ExpectedPlans::offer(Candidate candidate) {
  const Candidate* best = best_within(candidate.budget_bytes);
  if (best != nullptr && best->cost_us <= candidate.cost_us) return;
  const double cost_us = candidate.cost_us;
  auto next = best_.insert_or_assign(candidate.budget_bytes, std::move(candidate)).first;
  for (++next; next != best_.end() && next->second.cost_us >= cost_us;) next = best_.erase(next);
}

}  // namespace symprof::plan
