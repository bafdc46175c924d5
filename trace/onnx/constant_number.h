// Numbers that a graph makes of constants.
#pragma once

#include <optional>

#include "trace/graph/uses.h"

namespace symprof::trace {

/// The number of a value of one element that is a constant, or that casts, square roots, products
/// and quotients make of constants; empty for any other. `uses` is the graph's.
std::optional<double> constant_number(const Graph& graph, const Uses& uses, ValueId id);

}  // namespace symprof::trace
