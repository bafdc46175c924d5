// A walk from a plan that holds to others that differ from it in single calls.
//
// What a plan reserves depends on where its blocks find room. Two plans that free as many bytes may
// be a segment apart, and one that frees more may need more. So the walk is not held to the
// patterns of a frontier, which know bytes alone, and it goes through plans that reserve a little
// more than the budget. (Simulated annealing: Kirkpatrick, Gelatt and Vecchi, Science 220, 1983.)
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/region_costs.h"

namespace symprof::plan {

class PlanWalk {
 public:
  /// `planner` remembers what is tried, and has to outlive this.
  PlanWalk(CheckpointPlanner& planner, std::int64_t budget_bytes);

  /// Begins with the best plan that is known to hold. Does nothing where there is none, where it
  /// joins regions, or where no step can be composed.
  void run();

 private:
  struct Choice {
    bool runs_again = false;
    std::vector<int> kept;  // Of RegionCosts::calls, ascending.
  };
  /// By region.
  using Choices = std::vector<Choice>;

  const std::vector<RegionCosts>& regions() const { return planner_.selector().costs().regions; }
  bool are_alike(std::size_t region, std::size_t other) const {
    return planner_.selector().block_type(region) == planner_.selector().block_type(other);
  }
  /// False: it is not one of single regions.
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
  double us_per_byte_ = 0;  // Of what is reserved beyond the budget.
  Choices at_;
  double value_us_ = 0;  // Of `at_`: its cost, and what it reserves too much.
  std::mt19937 random_;
};

}  // namespace symprof::plan
