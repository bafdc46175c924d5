// Outputs that show that a run ignored the new batch.
#pragma once

#include <optional>

#include "shape/batch/extents.h"
#include "shape/batch/seen_values.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// An output that depends on the inputs, had as many rows as the file's batch, and still has that
/// many with another batch. Empty for a batch of 1, which no output can show.
std::optional<ValueId> kept_output(const Graph& graph, const SeenValues& file,
                                   const SeenValues& tried, const Batches& batches);

}  // namespace symprof::shape
