// The knee of a curve of memory against time.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/checkpoint/answers.h"

namespace symprof::plan {

/// The index of the point farthest below the chord between the curve's ends; the curve's size if
/// there is none. `curve` is by ascending budget.
std::size_t knee_of(const std::vector<PlanAnswer>& curve);

}  // namespace symprof::plan
