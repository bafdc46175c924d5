// What the values of a graph look like, known from a run of it.
//
// Public header.
#pragma once

#include <optional>
#include <vector>

#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// The geometry of each value of a graph, where it is a tensor and known.
using ValueSpecs = std::vector<std::optional<TensorSpec>>;

/// The specs that the file gives, and those of results in `recording`, which is a run of `graph`.
ValueSpecs specs_of(const Graph& graph, const Recording& recording);

}  // namespace symprof::trace
