// A graph's outputs, or all its results, computed on the CPU for given inputs: no step, no timing,
// no fake tensors.
#pragma once

#include "measure/real/leaf_values.h"

namespace symprof::measure::real {

/// The values of `graph.outputs`, in their order: one tensor each, none for an empty optional,
/// several for a sequence. `leaves`: the values of inputs and weights by name; constants with data
/// in the graph need none. Throws Error that names the failing node, or the missing value.
OutputValues values_of(const Graph& graph, const LeafValues& leaves);

/// Runs the same, and passes each result to `sink` when computed, in node order. A result is freed
/// at its last use, so memory holds only what a run needs and `sink` keeps. Throws what `values_of`
/// throws, and what `sink` does.
void stream_values(const Graph& graph, const LeafValues& leaves, const ResultSink& sink);

}  // namespace symprof::measure::real
