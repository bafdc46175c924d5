// Cuts against single solutions of the pools' integer program.
//
// Rows count blocks only. What the small pool needs beyond them, in fragmented 2 MiB segments,
// depends on the requests for small blocks and their order alone, which the plan determines:
// nothing taken up front changes it. So if a plan's small segments and its peak of large blocks
// exceed the budget together, the plan is infeasible, and the search continues without it. Calls of
// regions that are not recomputed do not matter, so one row excludes all their choices.
#include <algorithm>
#include <cmath>

#include "plan/checkpoint/pool_program.h"

namespace symprof::plan {
namespace {

/// The rounding error of a number of units.
constexpr double unit_tolerance = 1e-6;

}  // namespace

/// A row that excludes this plan alone, if it needs more than the budget.
std::optional<LinearRow> PoolProgram::refusal(const std::vector<double>& values,
                                              const NeedOf& need_of,
                                              std::int64_t most_bytes) const {
  const std::optional<PoolNeed> need = need_of(plan_of(values));
  if (!need || units_needed(*need) <= units_of(most_bytes) + unit_tolerance) return std::nullopt;
  return other_than(values);
}

/// Each pool has a whole number of units above its base.
double PoolProgram::units_needed(const PoolNeed& need) const {
  double units = 0;
  for (const bool is_small : {true, false}) {
    const auto pool = std::ranges::find(pools_, is_small, &PoolRows::is_small);
    const std::int64_t beyond = (is_small ? need.small_bytes : need.large_bytes) - pool->base_bytes;
    const double exact = static_cast<double>(beyond) / static_cast<double>(pool->unit_bytes);
    units += std::max(std::ceil(exact - unit_tolerance), 0.0);
  }
  return units;
}

/// A row that demands another choice for at least one region or call.
LinearRow PoolProgram::other_than(const std::vector<double>& values) const {
  LinearRow row{.terms = {}, .most = -1};
  const auto add = [&](int variable) {
    const bool runs = values[static_cast<std::size_t>(variable)] > 0.5;
    row.terms.emplace_back(variable, runs ? 1 : -1);
    row.most += runs ? 1 : 0;
    return runs;
  };
  for (const Region& region : regions_) {
    if (!add(region.runs_again)) continue;
    for (std::size_t c = 0; c < region.calls; ++c) add(region.first_call + static_cast<int>(c));
  }
  return row;
}

}  // namespace symprof::plan
