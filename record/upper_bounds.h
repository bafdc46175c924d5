// Tests if a step's figures depend on upper bounds of data-dependent sizes.
#pragma once

#include <algorithm>

#include "record/recording.h"

namespace symprof {

inline bool rests_on_upper_bounds(const Recording& recording) {
  return std::ranges::any_of(recording.nodes, &NodeRecord::upper_bound);
}

}  // namespace symprof
