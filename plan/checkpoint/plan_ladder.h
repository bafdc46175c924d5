// The search for a plan within one budget among those that tensors leave within it and within less
// and less of it: what the allocator cannot fill is set aside.
//
// There are rungs of memory from the budget down. For each of them an integer programme finds the
// cheapest plan that its tensors leave (pool_programme.h), and others near it. A plan is tried
// within its rung and the next ones: which segment it takes up front decides where blocks lie, and
// a smaller one may do where a larger one does not. Cheaper plans of higher rungs, which do not
// hold so, may with spacers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/pool_programme.h"

namespace symprof::plan {

class PlanLadder {
 public:
  /// Plans are tried by `planner`, which remembers them. Both have to outlive this.
  PlanLadder(CheckpointPlanner& planner, const PoolProgramme& programme, std::int64_t budget_bytes);

  /// Ends where no plan on a lower rung can be better, where the best is good enough, or after a
  /// fixed amount of work.
  void climb_down();
  /// Tries the plans of rungs that did not hold with spacers, where the best is not good enough.
  /// About `most_requests` requests are played.
  void try_with_spacers(std::ptrdiff_t most_requests);
  /// Tries the best plan with fewer spacers than it has, where they cost something.
  void hold_fewer_spacers(std::ptrdiff_t most_requests);
  /// Has the best plan keep one more of its calls after the other, as long as it holds: the search
  /// ends before the programme's cheapest solution is known where a step has many calls.
  void keep_more();

 private:
  struct Refused {
    double cost_us = 0;
    CheckpointPlan plan;
    std::optional<std::int64_t> need_bytes;  // Of both pools.
  };

  PoolProgramme::Answer solve(std::int64_t rung_bytes, unsigned variation) const;
  bool try_rung(std::int64_t rung_bytes, unsigned variation);
  bool holds(const CheckpointPlan& plan, std::int64_t rung_bytes);
  double cost_us(const CheckpointPlan& plan);
  bool is_good_enough() const;
  std::vector<const Refused*> worth_trying() const;

  CheckpointPlanner& planner_;
  const PoolProgramme& programme_;
  std::int64_t budget_bytes_, step_bytes_;
  std::ptrdiff_t work_;  // That is left.
  unsigned variations_;
  bool has_solution_ = false;               // Of the programme that was solved last.
  std::map<std::string, Refused> refused_;  // By key_of().
};

}  // namespace symprof::plan
