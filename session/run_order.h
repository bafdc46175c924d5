// The order in which tapes are run.
#pragma once

#include <cstdint>
#include <vector>

#include "session/shape_tapes.h"

namespace symprof {

struct RunOrder {
  std::vector<std::int32_t> tapes;  ///< The first is what comes before the loop.
  std::vector<RunPass> passes;      ///< Of all tapes but the first.
};

/// An update follows each `accumulated` batches, and the last ones, which may be fewer.
RunOrder run_order(ShapeTapes& tapes, const std::vector<plan::Batch>& batches, int accumulated,
                   const RunQuestion& question);

}  // namespace symprof
