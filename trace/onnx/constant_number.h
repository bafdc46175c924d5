// Numbers that a graph makes of constants.
#pragma once

#include <optional>
#include <unordered_map>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The number of a value of one element that is a constant, or that casts, square roots, products
/// and quotients make of constants; empty for any other. `producers` has the node of each result.
std::optional<double> constant_number(const Graph& graph,
                                      const std::unordered_map<ValueId, std::size_t>& producers,
                                      ValueId id);

}  // namespace symprof::trace
