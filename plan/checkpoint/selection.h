// One pattern for each region, of the least cost that the windows of a step leave within a budget.
//
// Regions go back in the reverse order of their forward passes, and so the constraints are nested:
// the first k regions together have to free what window k holds beyond the budget.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/checkpoint/frontier.h"
#include "plan/checkpoint/region_costs.h"

namespace symprof::plan {

struct Selection {
  std::vector<int> patterns;  ///< By region: index into its frontier's patterns.
  double cost_us = 0;
};

/// The regions of a step and their frontiers, which equal regions share.
class Selector {
 public:
  explicit Selector(StepCosts costs);

  const StepCosts& costs() const { return costs_; }
  const Frontier& frontier(std::size_t region) const {
    return frontiers_[static_cast<std::size_t>(of_region_[region])];
  }
  std::size_t block_types() const { return frontiers_.size(); }
  int block_type(std::size_t region) const { return of_region_[region]; }

  /// Empty: no choice of patterns is within `budget_bytes`.
  std::optional<Selection> select(std::int64_t budget_bytes) const;

  /// The least cost by the plain step's windows: an estimate and no bound, as a region that runs
  /// again may hold less than the plain step does. Empty: the windows leave no choice.
  std::optional<double> least_cost_us(std::int64_t budget_bytes) const;

 private:
  /// By number of regions: what the first ones have to free together, rising.
  std::vector<std::int64_t> needs(std::int64_t budget_bytes) const;
  std::optional<Selection> select(std::int64_t budget_bytes, bool& is_exact) const;
  std::optional<std::vector<double>> relaxed(const std::vector<std::int64_t>& needs) const;
  Selection rounded_up(const std::vector<double>& freed) const;

  StepCosts costs_;
  std::vector<Frontier> frontiers_;
  std::vector<int> of_region_;
};

}  // namespace symprof::plan
