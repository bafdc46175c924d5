// Tensor specs of a graph's values, from a recorded run.
#pragma once

#include <optional>
#include <vector>

#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// The spec of each value of a graph; empty if unknown or not a tensor.
using ValueSpecs = std::vector<std::optional<TensorSpec>>;

/// Specs from the file, and those of results in `recording`, a run of `graph`.
ValueSpecs specs_of(const Graph& graph, const Recording& recording);

}  // namespace symprof::trace
