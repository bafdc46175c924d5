// Simulated annealing from a plan that fits to plans that differ from it in single calls.
//
// What a plan reserves depends on where its blocks find room. Two plans that free equal bytes may
// differ by a segment, and one that frees more may need more. So the walk is not restricted to the
// patterns of a frontier, which only count bytes, and it passes through plans that reserve slightly
// more than the budget. (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983.)
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/region_costs.h"

namespace symprof::plan {

class PlanWalk {
 public:
  /// `planner` caches what is tried, and must outlive this.
  PlanWalk(CheckpointPlanner& planner, std::int64_t budget_bytes);

  /// Begins with the best plan known to fit. Does nothing where there is none, where it joins
  /// regions, or where no step can be composed.
  void run();

 private:
  struct Choice {
    bool runs_again = false;
    std::vector<int> kept;  // Indices into RegionCosts::calls, ascending.
  };
  /// By region.
  using Choices = std::vector<Choice>;

  const std::vector<RegionCosts>& regions() const { return planner_.selector().costs().regions; }
  bool are_alike(std::size_t region, std::size_t other) const {
    return planner_.selector().block_type(region) == planner_.selector().block_type(other);
  }
  /// Returns false if the plan joins regions or offloads.
  bool read(const CheckpointPlan& plan);
  CheckpointPlan plan_of(const Choices& choices) const;
  double cost_us(const Choices& choices) const;
  double host_cost_us(const RegionCosts& on_host, std::size_t region, const Choice& choice) const;
  Choices changed();
  void keep_or_not(Choices& choices);
  void step(double temperature_us);
  std::size_t some(std::size_t count) { return random_() % count; }

  CheckpointPlanner& planner_;
  std::int64_t budget_bytes_;
  double us_per_byte_ = 0;  // The price of bytes reserved beyond the budget.
  Choices at_;
  double value_us_ = 0;  // Of `at_`: its cost plus the price of its excess.
  std::mt19937 random_;
};

}  // namespace symprof::plan
