// The search for a plan within one budget, over integer programs whose tensors are limited to the
// budget and to less and less of it: the difference is set aside for fragmentation.
//
// The rungs are memory limits from the budget down. For each rung an integer program finds the
// cheapest plan (pool_program.h). A plan is tried with the sizes of its rung and of the next ones
// taken up front: that segment decides where blocks are placed, and a smaller one may fit where a
// larger one does not.
#pragma once

#include <cstdint>

#include "plan/checkpoint/planner.h"
#include "plan/checkpoint/pool_program.h"

namespace symprof::plan {

/// Ends where no plan on a lower rung can be better, where the best is good enough, or after a
/// fixed amount of work. `planner` caches what is tried.
void climb_down(CheckpointPlanner& planner, const PoolProgram& program, std::int64_t budget_bytes);

}  // namespace symprof::plan
