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
#include "record/checkpoint_plan.h"

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

  /// What the windows leave, and where that is more than `budget_bytes`, as little as they do. Each
  /// `variation` but 0 takes costs for a little more or less than they are, so that others of about
  /// the least cost are found.
  Selection select(std::int64_t budget_bytes, unsigned variation = 0) const;

  CheckpointPlan plan_of(const Selection& selection) const;
  /// Whether the windows leave the choice.
  bool is_within(const Selection& selection, std::int64_t budget_bytes) const;

  /// All choices that the windows leave and that cost `least_us` or more, and less than `most_us`;
  /// the cheapest first. Empty where there are too many choices to go through.
  std::vector<Selection> choices_between(std::int64_t budget_bytes, double least_us,
                                         double most_us) const;

  /// Of each type of regions: `base` with one pattern for all regions of it that run again there;
  /// those that cost more than `least_us` and less than `most_us`, the cheapest first.
  std::vector<Selection> evened(const Selection& base, double least_us, double most_us) const;

  /// No choice of patterns or of parts of them costs less by the windows. A bound of what plans
  /// cost if the regions and windows are those of sure_costs.h. Empty: the windows leave no choice.
  std::optional<double> least_cost_us(std::int64_t budget_bytes) const;

  /// What the plain step holds at most where regions may have given something up.
  std::int64_t highest_window_bytes() const;

  /// The window that holds the most when all regions free what they can; its bytes without what
  /// they free. No plan is within less, if the regions and windows are those of sure_costs.h.
  Window least_window() const;

 private:
  /// By number of regions: what the first ones have to free together.
  std::vector<std::int64_t> needs(std::int64_t budget_bytes) const;
  /// By number of regions: what the first ones can free.
  std::vector<std::int64_t> most_freed() const;
  Selection select(const std::vector<std::int64_t>& needed, unsigned variation) const;
  /// By pattern of the region, what it costs in the variation.
  std::vector<double> varied_costs(std::size_t region, unsigned variation) const;
  /// All regions run again, and keep their inputs alone.
  Selection everything() const;
  std::optional<double> least_of_whole_calls(const std::vector<std::int64_t>& needed) const;
  std::optional<std::vector<double>> relaxed(const std::vector<std::int64_t>& needs) const;
  Selection rounded_up(const std::vector<double>& freed) const;

  StepCosts costs_;
  std::vector<Frontier> frontiers_;
  std::vector<int> of_region_;
};

}  // namespace symprof::plan
