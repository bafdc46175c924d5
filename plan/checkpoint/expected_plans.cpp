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

ExpectedPlans::Tried& ExpectedPlans::try_out(const CheckpointPlan& plan) {
  const auto [known, is_new] = tried_.try_emplace(key_of(plan));
  Tried& tried = known->second;
  if (!is_new) return tried;
  ++count_;
  tried.peaks = trial_.peaks(step_.compose(plan));
  tried.cost_us = step_.cost_us();
  offer({tried.cost_us, tried.peaks.reserved_bytes, tried.peaks.reserved_bytes, plan});
  return tried;
}

std::int64_t ExpectedPlans::small_segments_bytes(const CheckpointPlan& plan, Tried& tried) {
  if (!tried.small_segments_bytes)
    tried.small_segments_bytes = trial_.small_segments_bytes(step_.compose(plan), tried.peaks);
  return *tried.small_segments_bytes;
}

StepPeaks ExpectedPlans::peaks(const CheckpointPlan& plan) { return try_out(plan).peaks; }

/// The memory that the plan needs, with or without memory reserved up front, whichever is smaller.
PoolNeed ExpectedPlans::need(const CheckpointPlan& plan) {
  Tried& tried = try_out(plan);
  if (!tried.large_bytes) {
    tried.large_bytes = 0;
    for (const HeldBytes& held : trial_.held_bytes(step_.compose(plan)))
      tried.large_bytes = std::max(*tried.large_bytes, held.large);
  }
  return {std::min(tried.peaks.small_segments_bytes, small_segments_bytes(plan, tried)),
          *tried.large_bytes};
}

std::int64_t ExpectedPlans::budget_of(const CheckpointPlan& plan, std::int64_t budget_bytes) {
  Tried& tried = try_out(plan);
  const std::int64_t reserved = tried.peaks.reserved_bytes;
  if (reserved <= budget_bytes || tried.peaks.allocated_bytes > budget_bytes ||
      tried.refused.contains(budget_bytes))
    return reserved;
  if (tried.held && *tried.held <= budget_bytes) return *tried.held;
  const std::int64_t small_bytes = small_segments_bytes(plan, tried);
  const std::optional<ReservedStep> found =
      trial_.reserve(step_.compose(plan), budget_bytes, small_bytes, budget_bytes);
  if (!found) {
    tried.refused.insert(budget_bytes);
    return reserved;
  }
  tried.held = found->peaks.reserved_bytes;
  offer({tried.cost_us, *tried.held, budget_bytes, plan});
  return *tried.held;
}

std::optional<std::int64_t> ExpectedPlans::reserved_up_to(const CheckpointPlan& plan,
                                                          std::int64_t budget_bytes,
                                                          std::int64_t most_bytes) {
  if (std::exchange(walked_budget_, budget_bytes) != budget_bytes) walked_.clear();
  Walked& walked = walked_[key_of(plan)];
  if (!walked.reserved && most_bytes > walked.more_than) {
    if (walked.more_than == 0) ++count_;
    const std::optional<ReservedStep> found =
        trial_.reserve(step_.compose(plan), budget_bytes, small_segments_bytes_, most_bytes);
    if (found) {
      walked.reserved = found->peaks.reserved_bytes;
      offer({step_.cost_us(), *walked.reserved, std::max(budget_bytes, *walked.reserved), plan});
    } else {
      walked.more_than = most_bytes;
    }
  }
  return walked.reserved && *walked.reserved <= most_bytes ? walked.reserved : std::nullopt;
}

const ExpectedPlans::Candidate* ExpectedPlans::best_within(std::int64_t budget_bytes) const {
  const auto after = best_.upper_bound(budget_bytes);
  return after == best_.begin() ? nullptr : &std::prev(after)->second;
}

void ExpectedPlans::refute(const Candidate& candidate) { best_.erase(candidate.budget_bytes); }

/// Dominated plans are dropped.
void ExpectedPlans::offer(Candidate candidate) {
  const Candidate* best = best_within(candidate.budget_bytes);
  if (best != nullptr && best->cost_us <= candidate.cost_us) return;
  const double cost_us = candidate.cost_us;
  auto next = best_.insert_or_assign(candidate.budget_bytes, std::move(candidate)).first;
  for (++next; next != best_.end() && next->second.cost_us >= cost_us;) next = best_.erase(next);
}

}  // namespace symprof::plan
