// The cheapest plan of single regions with which both pools of the allocator fit a budget, as an
// integer program: its variables are the recomputed regions, their recomputed calls, and each
// pool's part of the budget. Each call of the step gives a row on what is held there (pool_rows.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/checkpoint/integer_program.h"
#include "plan/checkpoint/pool_rows.h"
#include "plan/checkpoint/region_costs.h"
#include "record/checkpoint_plan.h"

namespace symprof::plan {

/// The memory that one plan needs, independent of memory reserved up front: exact for small blocks,
/// a lower bound for large ones.
struct PoolNeed {
  std::int64_t small_bytes = 0, large_bytes = 0;
};

class PoolProgram {
 public:
  /// A plan costs the larger of `costs` and of `host` beyond StepCosts::free_us; `host` without
  /// regions is ignored. Both have the same regions. `usual_bytes` is a typical budget: near it,
  /// answers are fast. `step_calls` measures the time to find out what a plan needs.
  PoolProgram(const StepCosts& costs, const StepCosts& host, std::vector<PoolRows> pools,
              std::int64_t usual_bytes, std::size_t step_calls);
  PoolProgram(const PoolProgram&) = delete;
  PoolProgram& operator=(const PoolProgram&) = delete;

  struct Answer {
    /// A lower bound of the cost of every plan within the budget; empty: there is none.
    std::optional<double> least_us;
    std::optional<CheckpointPlan> plan;  ///< The cheapest that was found.
    std::ptrdiff_t work = 0;             ///< As in IntegerAnswer.
  };
  /// Returns empty where the need is unknown.
  using NeedOf = std::function<std::optional<PoolNeed>(const CheckpointPlan&)>;
  Answer solve(std::int64_t budget_bytes, std::ptrdiff_t most_work) const {
    return solve(budget_bytes, most_work, {}, budget_bytes);
  }
  /// Excludes plans that in fact need more than `most_bytes` (pool_refusal.cpp).
  Answer solve(std::int64_t budget_bytes, std::ptrdiff_t most_work, const NeedOf& need_of,
               std::int64_t most_bytes) const;

 private:
  struct Region {
    int runs_again = 0, has_policy = 0;  // Variables; those of its calls follow.
    int first_call = 0;
    std::size_t calls = 0;
  };

  static double in_mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
  void add_region(const RegionCosts& costs, const RegionCosts* host);
  void add_pools();
  IntegerProgram program(std::int64_t usual_bytes, std::size_t step_calls) const;
  std::int64_t base_of(const PoolRows& pool) const { return are_whole_ ? pool.base_bytes : 0; }
  std::vector<VariableBounds> bounds_of(std::int64_t budget_bytes) const;
  std::vector<LinearRow> broken_rows(const std::vector<double>& values) const;
  void add_broken_links(const std::vector<double>& values, std::vector<LinearRow>& rows) const;
  LinearRow row_of(const PoolRows& pool, const HeldRow& held) const;
  std::vector<std::vector<double>> kept_of(const PoolRows& pool,
                                           const std::vector<double>& values) const;
  std::vector<double> kept_of(const PoolRows& pool, std::size_t region,
                              const std::vector<double>& values) const;
  double excess(const PoolRows& pool, const HeldRow& held,
                const std::vector<std::vector<double>>& kept,
                const std::vector<double>& values) const;
  const HeldRow* worst_row(const PoolRows& pool, const std::vector<std::vector<double>>& kept,
                           const std::vector<double>& values, double& most) const;
  std::optional<LinearRow> refusal(const std::vector<double>& values, const NeedOf& need_of,
                                   std::int64_t most_bytes) const;
  double units_of(std::int64_t budget_bytes) const;
  double units_needed(const PoolNeed& need) const;
  LinearRow other_than(const std::vector<double>& values) const;
  CheckpointPlan plan_of(const std::vector<double>& values) const;

  std::vector<RegionCosts> costs_;
  std::vector<Region> regions_;
  std::vector<PoolRows> pools_;
  std::vector<double> us_;       // By variable.
  std::vector<double> host_us_;  // By variable; empty: no host costs.
  double host_free_us_ = 0;
  int waits_ = -1, units_ = -1, small_units_ = -1;  // Variables.
  std::int64_t base_bytes_ = 0;
  double unit_ = 1;         // In MiB.
  bool are_whole_ = false;  // Pools have integral numbers of units.
  std::optional<IntegerSolver> solver_;
};

}  // namespace symprof::plan
