// The search for a plan within one budget among those that tensors leave within it and within less
// and less of it: what the allocator cannot fill is set aside.
//
// There are rungs of memory from the budget down. For each of them an integer programme finds the
// cheapest plan that its tensors leave (pool_programme.h), and others near it. A plan is tried
// within its rung and the next ones: which segment it takes up front decides where blocks lie, and
// a smaller one may do where a larger one does not.
#pragma once

#include <cstdint>
#include <optional>

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
  /// Has the best plan keep one more of its calls after the other, as long as it holds: the search
  /// ends before the programme's cheapest solution is known where a step has many calls.
  void keep_more();

 private:
  PoolProgramme::Answer solve(std::int64_t rung_bytes, unsigned variation) const;
  bool try_rung(std::int64_t rung_bytes, unsigned variation);
  void try_from(std::int64_t rung_bytes, const CheckpointPlan& plan);
  bool is_good_enough() const;

  CheckpointPlanner& planner_;
  const PoolProgramme& programme_;
  std::int64_t budget_bytes_, step_bytes_;
  std::ptrdiff_t work_;  // That is left.
  unsigned variations_;
  bool has_solution_ = false;  // Of the programme that was solved last.
};

}  // namespace symprof::plan
