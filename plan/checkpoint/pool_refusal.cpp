// Solutions of the pools' programme that are refused one by one.
//
// Rows count blocks. What the small pool needs beyond them, in segments of 2 MiB that others have
// cut up, follows from nothing but the requests for small blocks and their order, which a plan
// decides: nothing up front changes it. So where the small segments of a plan and the most that it
// holds in large blocks are more than the budget, that plan is none, and the search goes on without
// it. Calls of regions that do not run again decide nothing, so that one row refuses all their
// choices.
#include <algorithm>
#include <cmath>

#include "plan/checkpoint/pool_programme.h"

namespace symprof::plan {
namespace {

/// What a number of units may be off.
constexpr double unit_tolerance = 1e-6;

}  // namespace

/// A row that other plans keep, where this one needs more than the budget.
std::optional<LinearRow> PoolProgramme::refusal(const std::vector<double>& values,
                                                const NeedOf& need_of) const {
  const std::optional<PoolNeed> need = need_of(plan_of(values));
  if (!need || units_needed(*need) <= values[static_cast<std::size_t>(units_)] + unit_tolerance)
    return std::nullopt;
  return other_than(values);
}

/// Each pool has whole units beside its base.
double PoolProgramme::units_needed(const PoolNeed& need) const {
  double units = 0;
  for (const bool is_small : {true, false}) {
    const auto pool = std::ranges::find(pools_, is_small, &PoolRows::is_small);
    const std::int64_t beyond = (is_small ? need.small_bytes : need.large_bytes) - pool->base_bytes;
    const double exact = static_cast<double>(beyond) / static_cast<double>(pool->unit_bytes);
    units += std::max(std::ceil(exact - unit_tolerance), 0.0);
  }
  return units;
}

/// Some region or call does something else.
LinearRow PoolProgramme::other_than(const std::vector<double>& values) const {
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
