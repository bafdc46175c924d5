// Where a curve of memory against time bends.
//
// Public header.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/checkpoint/planner.h"

namespace symprof::plan {

/// The point of the curve that is farthest below the line between its ends; its size where there is
/// none. `curve` is by budget, ascending.
std::size_t knee_of(const std::vector<PlanAnswer>& curve);

}  // namespace symprof::plan
