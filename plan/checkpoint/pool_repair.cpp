// A rounding heuristic: integral solutions of the pools' program near its relaxation.
//
// A relaxation leaves few variables fractional, about as many as it has tight rows. They are
// rounded; then violated rows are repaired, one change after the other, by what frees bytes at the
// least cost; then the most expensive recomputed calls are kept where all rows allow it. The same
// is tried with each region's choice changed. No tableau is modified, so every budget gets a plan
// however large the program is.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/checkpoint/pool_program.h"

namespace symprof::plan {
namespace {

/// How far a row may be violated: less than in solutions (pool_program.cpp).
constexpr double repaired_tolerance = 1e-7;
/// Changes until all rows are satisfied, and rounds in which each region's choice is changed.
constexpr int most_repairs = 2'000, most_repair_rounds = 4;
/// The least cost assumed for a change, and the least improvement of a solution.
constexpr double least_repair_us = 1e-2;

}  // namespace

class PoolProgram::Repair {
 public:
  Repair(const PoolProgram& program, std::vector<double> relaxed)
      : program_(program), relaxed_(std::move(relaxed)), values_(relaxed_) {
    for (const PoolRows& pool : program_.pools_) kept_.push_back(program_.kept_of(pool, values_));
    for (std::size_t r = 0; r < program_.regions_.size(); ++r)
      apply({r, at(program_.regions_[r].runs_again) >= 0.5 ? Pattern::relaxed : Pattern::none});
  }

  /// Empty: no solution was found.
  std::optional<std::vector<double>> run(double small_units) {
    if (program_.small_units_ >= 0) at(program_.small_units_) = small_units;
    if (!keep_rows()) return std::nullopt;
    keep_calls();
    bool is_better = true;
    for (int round = 0; round < most_repair_rounds && is_better; ++round) {
      is_better = false;
      for (std::size_t r = 0; r < program_.regions_.size(); ++r)
        for (const Pattern pattern : {Pattern::none, Pattern::relaxed, Pattern::all})
          is_better |= is_better_with({r, pattern});
    }
    if (program_.waits_ >= 0) {
      const Us us = all_us();
      at(program_.waits_) = std::max(us.host - program_.host_free_us_ - us.device, 0.0);
    }
    return std::move(values_);
  }

 private:
  /// The recomputed calls of a region: none (the region is not recomputed), those that the
  /// relaxation chose, or all; or one call is flipped.
  enum class Pattern : std::uint8_t { none, relaxed, all, one_call };
  struct Change {
    std::size_t region = 0;
    Pattern pattern = Pattern::none;
    std::size_t call = 0;  // Of one_call.
  };
  struct Excess {
    std::size_t pool = 0;
    const HeldRow* row = nullptr;
    double mebibytes = 0;
  };
  struct Us {
    double device = 0, host = 0;
  };

  double& at(int variable) { return values_[static_cast<std::size_t>(variable)]; }
  double at(int variable) const { return values_[static_cast<std::size_t>(variable)]; }
  static int variable(const Region& region, std::size_t call) {
    return region.first_call + static_cast<int>(call);
  }
  bool runs(const Region& region) const { return at(region.runs_again) > 0.5; }

  /// True if the call is recomputed after the change. In the relaxation a call counts as recomputed
  /// from half the value of its region.
  bool runs_with(const Change& change, std::size_t call) const {
    const Region& region = program_.regions_[change.region];
    const auto call_at = static_cast<std::size_t>(variable(region, call));
    switch (change.pattern) {
      case Pattern::none:
        return false;
      case Pattern::all:
        return true;
      case Pattern::relaxed:
        return relaxed_[call_at] >= 0.5 * relaxed_[static_cast<std::size_t>(region.runs_again)];
      case Pattern::one_call:
        break;
    }
    return (values_[call_at] > 0.5) != (call == change.call);
  }

  /// Calls `visit(variable, difference)` for each variable of the region that the change modifies.
  template <typename Visit>
  void visit_changed(const Change& change, const Visit& visit) const {
    const Region& region = program_.regions_[change.region];
    const bool runs_then = change.pattern != Pattern::none;
    bool keeps = false;
    const auto set = [&](int variable, bool is_one) {
      if (const double by = (is_one ? 1 : 0) - at(variable); by != 0) visit(variable, by);
    };
    for (std::size_t c = 0; c < region.calls; ++c) {
      const bool runs_again = runs_with(change, c);
      keeps |= !runs_again;
      set(variable(region, c), runs_again);
    }
    set(region.runs_again, runs_then);
    set(region.has_policy, runs_then && keeps);
  }

  void apply(const Change& change) {
    std::vector<std::pair<int, double>> changed;
    visit_changed(change, [&](int variable, double by) { changed.emplace_back(variable, by); });
    for (const auto& [variable, by] : changed) at(variable) += by;
    for (std::size_t p = 0; p < kept_.size(); ++p)
      kept_[p][change.region] = program_.kept_of(program_.pools_[p], change.region, values_);
  }

  std::optional<Excess> worst() const {
    std::optional<Excess> worst;
    double most = repaired_tolerance;
    for (std::size_t p = 0; p < kept_.size(); ++p)
      if (const HeldRow* row = program_.worst_row(program_.pools_[p], kept_[p], values_, most))
        worst = {p, row, most};
    return worst;
  }

  bool keep_rows() {
    for (int i = 0; i < most_repairs; ++i) {
      const std::optional<Excess> worst = this->worst();
      if (!worst) return true;
      const std::optional<Change> change = best_for(*worst);
      if (!change) return false;
      apply(*change);
    }
    return false;
  }

  /// The change that frees the most excess bytes per time; empty: none frees any.
  std::optional<Change> best_for(const Excess& excess) const {
    std::optional<Change> best;
    double most = 0;
    const Us now = all_us();
    for (std::size_t r = 0; r < program_.regions_.size(); ++r) {
      if (excess.row->freed[r] == HeldRow::undecided) continue;
      for (const Change& change : changes_of(r)) {
        const double freed = std::min(freed_by(change, excess), excess.mebibytes);
        const double worth = freed / std::max(more_us(now, change), least_repair_us);
        if (freed > repaired_tolerance && worth > most) most = worth, best = change;
      }
    }
    return best;
  }

  /// Changes that recompute more of the region.
  std::vector<Change> changes_of(std::size_t r) const {
    const Region& region = program_.regions_[r];
    std::vector<Change> changes{{r, Pattern::all}};
    if (!runs(region)) changes.push_back({r, Pattern::relaxed});
    for (std::size_t c = 0; c < region.calls && runs(region); ++c)
      if (at(variable(region, c)) < 0.5) changes.push_back({r, Pattern::one_call, c});
    return changes;
  }

  double freed_by(const Change& change, const Excess& excess) const {
    const Region& region = program_.regions_[change.region];
    const std::vector<std::int64_t>& kept =
        program_.pools_[excess.pool].kept[change.region][excess.row->kept[change.region]];
    double freed = runs(region) ? 0 : in_mebibytes(excess.row->freed[change.region]);
    for (std::size_t c = 0; c < region.calls; ++c) {
      const bool keeps_now = runs(region) && at(variable(region, c)) < 0.5;
      const bool keeps_then = !runs_with(change, c);
      if (keeps_now != keeps_then) freed += (keeps_now ? 1 : -1) * in_mebibytes(kept[c]);
    }
    return freed;
  }

  void add(Us& us, int variable, double by) const {
    us.device += program_.us_[static_cast<std::size_t>(variable)] * by;
    if (program_.waits_ >= 0) us.host += program_.host_us_[static_cast<std::size_t>(variable)] * by;
  }

  Us all_us() const {
    Us us;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (static_cast<int>(i) != program_.waits_) add(us, static_cast<int>(i), values_[i]);
    return us;
  }

  double cost_us(const Us& us) const {
    return program_.waits_ < 0 ? us.device : std::max(us.device, us.host - program_.host_free_us_);
  }

  double more_us(const Us& now, const Change& change) const {
    Us then = now;
    visit_changed(change, [&](int variable, double by) { add(then, variable, by); });
    return cost_us(then) - cost_us(now);
  }

  /// Keeps calls, the most expensive first, as long as all rows are satisfied.
  void keep_calls() {
    std::vector<std::pair<double, Change>> running;
    Us now = all_us();
    for (std::size_t r = 0; r < program_.regions_.size(); ++r)
      for (std::size_t c = 0; c < program_.regions_[r].calls; ++c) {
        const int call = variable(program_.regions_[r], c);
        Us without = now;
        add(without, call, -1);
        if (at(call) > 0.5 && cost_us(without) < cost_us(now))
          running.push_back({cost_us(without), {r, Pattern::one_call, c}});
      }
    std::ranges::stable_sort(running, {}, &std::pair<double, Change>::first);
    for (const auto& [us, change] : running) {
      if (more_us(now, change) >= 0) continue;
      apply(change);
      if (worst()) apply(change);  // Undone.
      now = all_us();
    }
  }

  /// Applies the change if the repaired solution is better; else restores the old one.
  bool is_better_with(const Change& change) {
    const std::vector<double> values = values_;
    const std::vector<std::vector<std::vector<double>>> kept = kept_;
    const double before_us = cost_us(all_us());
    apply(change);
    if (values_ != values && keep_rows()) {
      keep_calls();
      if (cost_us(all_us()) < before_us - least_repair_us) return true;
    }
    values_ = values;
    kept_ = kept;
    return false;
  }

  const PoolProgram& program_;
  std::vector<double> relaxed_, values_;
  std::vector<std::vector<std::vector<double>>> kept_;  // By pool, as in kept_of().
};

/// One solution each for the relaxation's number of small-pool units, rounded up and down.
std::vector<std::vector<double>> PoolProgram::near_whole(const std::vector<double>& relaxed) const {
  const double small = small_units_ < 0 ? 0 : relaxed[static_cast<std::size_t>(small_units_)];
  std::vector<double> units{small};
  if (are_whole_)
    units = {std::ceil(small - repaired_tolerance), std::floor(small + repaired_tolerance)};
  units.erase(std::unique(units.begin(), units.end()), units.end());
  std::vector<std::vector<double>> found;
  for (const double one : units)
    if (auto values = Repair(*this, relaxed).run(one)) found.push_back(std::move(*values));
  return found;
}

}  // namespace symprof::plan
