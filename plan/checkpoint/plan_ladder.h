// The search for a plan within one budget, over integer programs whose tensors are limited to the
// budget and to less and less of it: the difference is set aside for fragmentation.
//
// The rungs are memory limits from the budget down. For each rung an integer program finds the
// cheapest plan (pool_program.h) and others near it. A plan is tried with the sizes of its rung
// and of the next ones taken up front: that segment decides where blocks are placed, and a smaller
// one may fit where a larger one does not.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/pool_program.h"

namespace symprof::plan {

class PlanLadder {
 public:
  /// `planner` tries the plans and caches them. Both must outlive this.
  PlanLadder(CheckpointPlanner& planner, const PoolProgram& program, std::int64_t budget_bytes);

  /// Ends where no plan on a lower rung can be better, where the best is good enough, or after a
  /// fixed amount of work.
  void climb_down();
  /// Lets the best plan keep one more call after the other, as long as it fits: in steps with many
  /// calls the search ends before the program is solved to optimality.
  void keep_more();

 private:
  PoolProgram::Answer solve(std::int64_t rung_bytes, unsigned variation) const;
  bool try_rung(std::int64_t rung_bytes, unsigned variation);
  void try_from(std::int64_t rung_bytes, const CheckpointPlan& plan);
  bool is_good_enough() const;

  CheckpointPlanner& planner_;
  const PoolProgram& program_;
  std::int64_t budget_bytes_, step_bytes_;
  std::ptrdiff_t work_;  // Remaining.
  unsigned variations_;
  bool has_solution_ = false;  // Of the last program solved.
};

}  // namespace symprof::plan
