// A graph's outputs, or all its results, on given values, on the CPU: no step, no clock, no fake
// tensor.
#pragma once

#include "measure/real/library.h"

namespace symprof::measure::real {

/// The values of `graph.outputs`, in their order: one tensor each, none for an empty optional,
/// several for a sequence. `leaves` has the values of inputs and weights by name; constants of the
/// graph that have their data need none. Throws Error that names the node which cannot be run, or
/// the value that is missing.
OutputValues values_of(const Graph& graph, const LeafValues& leaves);

/// Runs the same, and tells `sink` of each result as it is made, in the order of the nodes. A
/// result goes at its last use, so no more is in memory than a run needs and what `sink` keeps.
/// Throws what `values_of` throws, and what `sink` does.
void stream_values(const Graph& graph, const LeafValues& leaves, const ResultSink& sink);

}  // namespace symprof::measure::real
