#include "plan/checkpoint/alternatives.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plan/checkpoint/rotor.h"

namespace symprof::plan {
namespace {

AlternativePlan simulated_plan(std::string name, CheckpointPlanner& planner,
                               const CheckpointPlan& plan, std::int64_t budget_bytes,
                               std::string note = "") {
  try {
    return {std::move(name), planner.play_within(plan, budget_bytes), std::move(note)};
  } catch (const Error& error) {
    return {std::move(name), std::nullopt, error.problem(unspelled)};
  }
}

/// Regions [first, end) of the step joined into one.
CheckpointRegion joined(const StepCosts& costs, std::size_t first, std::size_t end) {
  CheckpointRegion region;
  for (std::size_t i = first; i < end; ++i) region.modules.push_back(costs.regions[i].module);
  return region;
}

/// Segments of about the square root of the number of regions, each keeping its input alone (Chen,
/// Xu, Zhang, Guestrin, arXiv 1604.06174).
CheckpointPlan square_root(const StepCosts& costs) {
  const std::size_t count = costs.regions.size();
  const auto segments = static_cast<std::size_t>(std::lround(std::sqrt(count)));
  CheckpointPlan plan;
  for (std::size_t i = 0; i < segments; ++i)
    plan.regions.push_back(joined(costs, i * count / segments, (i + 1) * count / segments));
  return plan;
}

CheckpointPlan keeping(const StepCosts& costs, auto&& keeps) {
  CheckpointPlan plan;
  for (const RegionCosts& region : costs.regions) {
    CheckpointRegion& chosen = plan.regions.emplace_back();
    chosen.modules = {region.module};
    for (const KeepableCall& call : region.calls)
      if (keeps(region, call)) chosen.kept.push_back(call.call);
  }
  return plan;
}

// Slots of memory: the default of rotor's public code.
constexpr std::int64_t rotor_slots = 500;
constexpr std::size_t many_regions = 100;

/// The regions as rotor's stages. Memory outside the regions counts as always allocated.
RotorChain chain_of(const StepCosts& costs, double slot) {
  RotorChain chain;
  const auto slots = [&](std::int64_t bytes) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / slot));
  };
  chain.value.push_back(0);
  chain.saved.push_back(0);
  for (const RegionCosts& region : costs.regions) {
    chain.forward.push_back(region.cost_us);
    chain.backward.push_back(0);
    chain.value.push_back(slots(region.output_bytes));
    chain.saved.push_back(slots(region.output_bytes + region.freed_bytes));
    chain.forward_temporary.push_back(0);
    chain.backward_temporary.push_back(0);
  }
  return chain;
}

AlternativePlan rotor_plan(CheckpointPlanner& planner, std::int64_t budget_bytes) {
  const StepCosts& costs = planner.selector().costs();
  std::int64_t all = 0;
  for (const RegionCosts& region : costs.regions) all += region.freed_bytes + region.output_bytes;
  // Memory for the values of the chain: the budget minus what else the step holds at its peak.
  const std::int64_t beside = planner.plain().peaks.reserved_bytes - all;
  AlternativePlan found{rotor_name, std::nullopt, "finds no schedule within the budget"};
  for (double share = 1; share > 0.3; share -= 0.05) {
    const double memory = share * static_cast<double>(budget_bytes - beside);
    if (memory <= 0) break;
    const std::int64_t slots = costs.regions.size() > many_regions ? rotor_slots / 5 : rotor_slots;
    const double slot = memory / static_cast<double>(slots);
    const auto schedule = rotor(chain_of(costs, slot), slots);
    if (!schedule) break;
    CheckpointPlan plan;
    bool is_nested = false;
    for (const RotorSegment& segment : schedule->segments) {
      plan.regions.push_back(
          joined(costs, segment.first, std::min(segment.end, costs.regions.size())));
      is_nested |= segment.is_nested;
    }
    found =
        simulated_plan(rotor_name, planner, plan, budget_bytes,
                       is_nested ? "segments that it recomputes twice are recomputed once" : "");
    if (!found.simulated || found.simulated->budget_bytes() <= budget_bytes) break;
  }
  return found;
}

}  // namespace

std::vector<AlternativePlan> simulate_alternatives(CheckpointPlanner& planner,
                                                   std::int64_t budget_bytes) {
  const StepCosts& costs = planner.selector().costs();
  std::vector<AlternativePlan> found;
  const auto add = [&](const char* name, const CheckpointPlan& plan) {
    found.push_back(simulated_plan(name, planner, plan, budget_bytes));
  };
  add("no recomputation", planner.plain().plan);
  add("all modules", planner.all_again().plan);
  add("square root", square_root(costs));
  found.push_back(rotor_plan(planner, budget_bytes));
  add("operators to save", keeping(costs, [](const RegionCosts&, const KeepableCall& call) {
        return is_compute_intensive(call.call.op);
      }));
  add("minimum cut", keeping(costs, [](const RegionCosts& region, const KeepableCall& call) {
        return std::ranges::binary_search(region.cut, call.call);
      }));
  return found;
}

}  // namespace symprof::plan
