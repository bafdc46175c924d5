// A graph's outputs, or all its results, computed on the CPU for given inputs: no step, no timing,
// no fake tensors.
#pragma once

#include "measure/real/leaf_values.h"

namespace symprof::measure::real {

/// The values of `graph.outputs`, in their order: one tensor each, none for an empty optional,
/// several for a sequence. `leaves`: the values of inputs and weights by name; constants with data
/// in the graph need none. Throws Error that names the failing node, or the missing value.
OutputValues values_of(const Graph& graph, const LeafValues& leaves);

/// Like `values_of`, but passes each result to `sink` as soon as it is computed, in node order. A
/// result is freed after its last use, so memory holds only values still needed and those kept by
/// `sink`. Throws what `values_of` and `sink` throw.
void stream_values(const Graph& graph, const LeafValues& leaves, const ResultSink& sink);

}  // namespace symprof::measure::real
