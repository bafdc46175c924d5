// Chooses a pattern for each region, at the least total cost that fits a step's memory windows into
// a budget.
//
// Regions are recomputed in the reverse order of their forward passes, so the constraints are
// nested: the first k regions together have to free the bytes by which window k exceeds the budget.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/checkpoint/frontier.h"
#include "plan/checkpoint/region_costs.h"
#include "record/checkpoint_plan.h"

namespace symprof::plan {

struct Selection {
  std::vector<int> patterns;  ///< By region: an index into its frontier's patterns.
  double cost_us = 0;
};

/// The regions of a step and their frontiers; equal regions share one.
class Selector {
 public:
  explicit Selector(StepCosts costs);

  const StepCosts& costs() const { return costs_; }
  const Frontier& frontier(std::size_t region) const {
    return frontiers_[static_cast<std::size_t>(of_region_[region])];
  }
  std::size_t block_types() const { return frontiers_.size(); }
  int block_type(std::size_t region) const { return of_region_[region]; }

  /// The cheapest choice within the budget, or within the least memory possible if that exceeds
  /// `budget_bytes`.
  Selection select(std::int64_t budget_bytes) const;

  CheckpointPlan plan_of(const Selection& selection) const;
  /// True if the choice satisfies all windows.
  bool is_within(const Selection& selection, std::int64_t budget_bytes) const;

  /// All choices that satisfy the windows, the cheapest first. Empty where there are too many
  /// choices to enumerate.
  std::vector<Selection> choices_within(std::int64_t budget_bytes) const;

  /// A lower bound of all choices of patterns, fractions of calls allowed, that satisfy the
  /// windows. It bounds all plans if the regions and windows are those of sure_costs.h. Empty: no
  /// choice satisfies the windows.
  std::optional<double> least_cost_us(std::int64_t budget_bytes) const;

  /// The peak of the plain step over the calls at which regions may have freed something.
  std::int64_t highest_window_bytes() const;

  /// The window with the most bytes when all regions free as much as they can; `bytes` is the rest.
  /// If the regions and windows are those of sure_costs.h, no plan fits a smaller budget.
  Window least_window() const;

 private:
  /// Element k: the bytes that the first k regions together must free.
  std::vector<std::int64_t> needs(std::int64_t budget_bytes) const;
  /// Element k: the bytes that the first k regions together can free at most.
  std::vector<std::int64_t> most_freed() const;
  Selection select(const std::vector<std::int64_t>& needed) const;
  /// The selection in which all regions are recomputed and keep only their inputs.
  Selection everything() const;
  std::optional<double> least_of_whole_calls(const std::vector<std::int64_t>& needed) const;
  std::optional<std::vector<double>> relaxed(const std::vector<std::int64_t>& needs) const;
  Selection rounded_up(const std::vector<double>& freed) const;

  StepCosts costs_;
  std::vector<Frontier> frontiers_;
  std::vector<int> of_region_;
};

}  // namespace symprof::plan
