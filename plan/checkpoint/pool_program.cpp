#include "plan/checkpoint/pool_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace symprof::plan {
namespace {

/// Rows are added once they are violated by more than this.
constexpr double row_tolerance = 1e-6;
/// Branching order of integer variables: those that decide about many others come first.
constexpr int rank_of_units = 0, rank_of_regions = 1, rank_of_calls = 2;
/// Slack in the lower bound for the tolerance of the rows.
constexpr double rounding_share = 3e-6, rounding_us = 1e-4;
/// Work of the relaxation with which every search begins.
constexpr std::ptrdiff_t most_work_of_root = 300'000'000;
/// Tableau cells that take as long as simulating one call of a step.
constexpr std::ptrdiff_t work_of_simulated_call = 4'000;

}  // namespace

PoolProgram::PoolProgram(const StepCosts& costs, const StepCosts& host, std::vector<PoolRows> pools,
                         std::int64_t usual_bytes, std::size_t step_calls)
    : costs_(costs.regions), pools_(std::move(pools)), host_free_us_(host.free_us) {
  const bool has_host = !host.regions.empty();
  for (std::size_t i = 0; i < costs_.size(); ++i)
    add_region(costs_[i], has_host ? &host.regions[i] : nullptr);
  if (has_host) {
    waits_ = static_cast<int>(us_.size());
    us_.push_back(1);
    host_us_.push_back(0);
  }
  add_pools();
  solver_.emplace(program(usual_bytes, step_calls), most_work_of_root);
}

/// The cost of the region without any of its keepable calls, and of each recomputed call.
void PoolProgram::add_region(const RegionCosts& costs, const RegionCosts* host) {
  const auto next = static_cast<int>(us_.size());
  regions_.push_back({next, next + 1, next + 2, costs.calls.size()});
  const std::size_t first = us_.size();
  us_.push_back(costs.cost_us);
  us_.push_back(costs.policy_us);
  if (host != nullptr) host_us_.insert(host_us_.end(), {host->cost_us, host->policy_us});
  for (const KeepableCall& call : costs.calls) {
    us_.push_back(call.cost_us);
    us_[first] -= call.cost_us;
    if (host == nullptr) continue;
    const auto found = std::ranges::lower_bound(host->calls, call.call, {}, &KeepableCall::call);
    const bool is_there = found != host->calls.end() && found->call == call.call;
    host_us_.push_back(is_there ? found->cost_us : 0);
    host_us_[first] -= host_us_.back();
  }
}

/// One variable for each pool's part of the budget. It is an integer if all weights agree on unit
/// and base: a pool then reserves its base and a whole number of units.
void PoolProgram::add_pools() {
  const auto is_like_all = [&](const PoolRows& pool) {
    return std::ranges::all_of(pools_, [&](const PoolRows& other) {
      return pool.unit_bytes == other.unit_bytes &&
             (pool.is_small != other.is_small || pool.base_bytes == other.base_bytes);
    });
  };
  are_whole_ = std::ranges::all_of(pools_, is_like_all) && pools_.front().unit_bytes > 1;
  bool has_two_pools = true;
  for (const bool is_small : {false, true}) {
    const auto pool = std::ranges::find(pools_, is_small, &PoolRows::is_small);
    has_two_pools &= pool != pools_.end();
    if (are_whole_ && pool != pools_.end()) base_bytes_ += pool->base_bytes;
  }
  if (are_whole_) unit_ = in_mebibytes(pools_.front().unit_bytes);
  units_ = static_cast<int>(us_.size());
  if (has_two_pools) small_units_ = units_ + 1;
  us_.resize(us_.size() + (has_two_pools ? 2 : 1), 0);
  if (!host_us_.empty()) host_us_.resize(us_.size(), 0);
}

IntegerProgram PoolProgram::program(std::int64_t usual_bytes, std::size_t step_calls) const {
  IntegerProgram program{.costs = us_,
                         .lower = std::vector<double>(us_.size(), 0),
                         .upper = std::vector<double>(us_.size(), 1),
                         .ranks = std::vector<std::optional<int>>(us_.size(), rank_of_calls)};
  for (const Region& region : regions_) {
    program.ranks[static_cast<std::size_t>(region.runs_again)] = rank_of_regions;
    program.ranks[static_cast<std::size_t>(region.has_policy)].reset();
  }
  if (waits_ >= 0) {
    const auto at = static_cast<std::size_t>(waits_);
    program.upper[at] = 0;
    for (const double us : host_us_) program.upper[at] += std::abs(us);
    program.ranks[at].reset();
  }
  for (const auto& [variable, lower, upper] : bounds_of(usual_bytes)) {
    const auto at = static_cast<std::size_t>(variable);
    program.lower[at] = lower;
    program.upper[at] = upper;
    program.ranks[at].reset();
    if (are_whole_ && variable == small_units_) program.ranks[at] = rank_of_units;
  }
  for (const PoolRows& pool : pools_)
    program.work_of_rows += static_cast<std::ptrdiff_t>(pool.rows.size() * regions_.size());
  program.work_of_refusal = work_of_simulated_call * static_cast<std::ptrdiff_t>(step_calls);
  program.broken_rows = [this](const std::vector<double>& values) { return broken_rows(values); };
  return program;
}

double PoolProgram::units_of(std::int64_t budget_bytes) const {
  const double units = std::max(in_mebibytes(budget_bytes - base_bytes_) / unit_, 0.0);
  return are_whole_ ? std::floor(units) : units;
}

/// The whole budget; the small pool gets a part of it.
std::vector<VariableBounds> PoolProgram::bounds_of(std::int64_t budget_bytes) const {
  const double units = units_of(budget_bytes);
  std::vector<VariableBounds> bounds{{units_, units, units}};
  if (small_units_ >= 0) bounds.push_back({small_units_, 0, units});
  return bounds;
}

LinearRow PoolProgram::row_of(const PoolRows& pool, const HeldRow& held) const {
  LinearRow row{.terms = {}, .most = in_mebibytes(base_of(pool) - held.bytes)};
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    if (held.freed[r] == HeldRow::undecided) continue;
    double of_region = -in_mebibytes(held.freed[r]);
    for (std::size_t c = 0; c < regions_[r].calls; ++c) {
      const double kept = in_mebibytes(pool.kept[r][held.kept[r]][c]);
      if (kept == 0) continue;
      of_region += kept;
      row.terms.emplace_back(regions_[r].first_call + static_cast<int>(c), -kept);
    }
    if (of_region != 0) row.terms.emplace_back(regions_[r].runs_again, of_region);
  }
  if (!pool.is_small) row.terms.emplace_back(units_, -unit_);
  if (small_units_ >= 0) row.terms.emplace_back(small_units_, pool.is_small ? -unit_ : unit_);
  return row;
}

/// `kept` is by region and index into PoolRows::kept.
double PoolProgram::excess(const PoolRows& pool, const HeldRow& held,
                           const std::vector<std::vector<double>>& kept,
                           const std::vector<double>& values) const {
  double sum = in_mebibytes(held.bytes - base_of(pool));
  for (std::size_t r = 0; r < regions_.size(); ++r)
    if (held.freed[r] != HeldRow::undecided)
      sum += kept[r][held.kept[r]] -
             in_mebibytes(held.freed[r]) * values[static_cast<std::size_t>(regions_[r].runs_again)];
  const double small = small_units_ >= 0 ? values[static_cast<std::size_t>(small_units_)] : 0;
  const double all = values[static_cast<std::size_t>(units_)];
  return sum - unit_ * (pool.is_small ? small : all - small);
}

/// By region and index into PoolRows::kept.
std::vector<std::vector<double>> PoolProgram::kept_of(const PoolRows& pool,
                                                      const std::vector<double>& values) const {
  std::vector<std::vector<double>> sums;
  for (std::size_t r = 0; r < regions_.size(); ++r) sums.push_back(kept_of(pool, r, values));
  return sums;
}

std::vector<double> PoolProgram::kept_of(const PoolRows& pool, std::size_t region,
                                         const std::vector<double>& values) const {
  std::vector<double> sums;
  for (const std::vector<std::int64_t>& by_call : pool.kept[region]) {
    double& sum = sums.emplace_back(0);
    for (std::size_t c = 0; c < by_call.size(); ++c)
      if (by_call[c] != 0)
        sum += in_mebibytes(by_call[c]) *
               (values[static_cast<std::size_t>(regions_[region].runs_again)] -
                values[static_cast<std::size_t>(regions_[region].first_call) + c]);
  }
  return sums;
}

/// The call that exceeds its limit by the most, which is returned in `most`; null: none by more
/// than `most`.
const HeldRow* PoolProgram::worst_row(const PoolRows& pool,
                                      const std::vector<std::vector<double>>& kept,
                                      const std::vector<double>& values, double& most) const {
  const HeldRow* worst = nullptr;
  for (const HeldRow& held : pool.rows)
    if (const double beyond = excess(pool, held, kept, values); beyond > most)
      most = beyond, worst = &held;
  return worst;
}

/// For each kind of weights, the most violated call.
std::vector<LinearRow> PoolProgram::broken_rows(const std::vector<double>& values) const {
  std::vector<LinearRow> rows;
  add_broken_links(values, rows);
  for (const PoolRows& pool : pools_) {
    double most = row_tolerance;
    if (const HeldRow* worst = worst_row(pool, kept_of(pool, values), values, most))
      rows.push_back(row_of(pool, *worst));
  }
  return rows;
}

/// A call is recomputed only with its region, and the region has a policy as soon as one of its
/// calls is kept. The last row is the wait for the host.
void PoolProgram::add_broken_links(const std::vector<double>& values,
                                   std::vector<LinearRow>& rows) const {
  const auto value = [&](int variable) { return values[static_cast<std::size_t>(variable)]; };
  for (const Region& region : regions_) {
    int kept = -1;
    for (std::size_t c = 0; c < region.calls; ++c) {
      const int call = region.first_call + static_cast<int>(c);
      if (value(call) > value(region.runs_again) + row_tolerance)
        rows.push_back({{{call, 1}, {region.runs_again, -1}}, 0});
      if (kept < 0 || value(call) < value(kept)) kept = call;
    }
    if (kept >= 0 &&
        value(region.runs_again) - value(kept) > value(region.has_policy) + row_tolerance)
      rows.push_back({{{region.runs_again, 1}, {kept, -1}, {region.has_policy, -1}}, 0});
  }
  if (waits_ < 0) return;
  LinearRow row{.terms = {}, .most = host_free_us_};
  double sum = 0;
  for (std::size_t i = 0; i < us_.size(); ++i) {
    const double factor = host_us_[i] - us_[i];
    if (factor == 0) continue;
    row.terms.emplace_back(static_cast<int>(i), factor);
    sum += factor * values[i];
  }
  if (sum > host_free_us_ + row_tolerance) rows.push_back(std::move(row));
}

CheckpointPlan PoolProgram::plan_of(const std::vector<double>& values) const {
  CheckpointPlan plan;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    if (values[static_cast<std::size_t>(regions_[r].runs_again)] < 0.5) continue;
    std::vector<int> kept;
    for (std::size_t c = 0; c < regions_[r].calls; ++c)
      if (values[static_cast<std::size_t>(regions_[r].first_call) + c] < 0.5)
        kept.push_back(static_cast<int>(c));
    plan.regions.push_back(costs_[r].keeping(kept));
  }
  return plan;
}

PoolProgram::Answer PoolProgram::solve(std::int64_t budget_bytes, std::ptrdiff_t most_work,
                                       const NeedOf& need_of, std::int64_t most_bytes) const {
  if (budget_bytes < base_bytes_) return {};
  Refusal refuses;
  if (need_of && are_whole_ && small_units_ >= 0 && need_of({}))  // For one plan, or none.
    refuses = [&](const std::vector<double>& values) {
      return refusal(values, need_of, most_bytes);
    };
  const IntegerAnswer found = solver_->solve(bounds_of(budget_bytes), most_work, refuses);
  Answer answer{.least_us = {}, .plan = {}, .work = found.work};
  if (found.least < std::numeric_limits<double>::infinity())
    answer.least_us = std::max(found.least * (1 - rounding_share) - rounding_us, 0.0);
  if (!found.values.empty()) answer.plan = plan_of(found.values);
  return answer;
}

}  // namespace symprof::plan
