// Numbers computed from constants.
#pragma once

#include <optional>

#include "trace/graph/uses.h"

namespace symprof::trace {

/// The number of a one-element value that is a constant, or computed from constants by casts,
/// square roots, products and quotients; empty for others. `uses` is the graph's.
std::optional<double> constant_number(const Graph& graph, const Uses& uses, ValueId id);

}  // namespace symprof::trace
