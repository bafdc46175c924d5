// Whether the figures of a step rest on sizes that depend on data and were taken as large as they
// can be.
//
// Public header.
#pragma once

#include <algorithm>

#include "record/recording.h"

namespace symprof {

inline bool rests_on_upper_bounds(const Recording& recording) {
  return std::ranges::any_of(recording.nodes, &NodeRecord::upper_bound);
}

}  // namespace symprof
