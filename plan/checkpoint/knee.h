// The knee of a curve of memory against time.
//
// Public header.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/checkpoint/planner.h"

namespace symprof::plan {

/// The index of the point farthest below the chord between the curve's ends; the curve's size if
/// there is none. `curve` is by ascending budget.
std::size_t knee_of(const std::vector<PlanAnswer>& curve);

}  // namespace symprof::plan
