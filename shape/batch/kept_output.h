// Outputs that say whether a run had another batch.
#pragma once

#include <optional>

#include "shape/batch/extents.h"
#include "shape/batch/seen_values.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// An output that follows from the inputs, had as many rows as the batch, and keeps them. With a
/// batch of 1 no output says so.
std::optional<ValueId> kept_output(const Graph& graph, const SeenValues& file,
                                   const SeenValues& tried, const Batches& batches);

}  // namespace symprof::shape
