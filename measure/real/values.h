// A graph's outputs on given values, on the CPU: no step, no clock, no fake tensor.
#pragma once

#include "measure/real/library.h"

namespace symprof::measure::real {

/// The values of `graph.outputs`, in their order: one tensor each, none for an empty optional,
/// several for a sequence. `leaves` has the values of inputs and weights by name; constants of the
/// graph that have their data need none. Throws Error that names the node which cannot be run, or
/// the value that is missing.
OutputValues values_of(const Graph& graph, const LeafValues& leaves);

}  // namespace symprof::measure::real
