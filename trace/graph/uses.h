// What the nodes of a graph read: arguments by name and by position.
#pragma once

#include <cstddef>
#include <string_view>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The value that argument `index` of `node` names; no_value where there is none.
ValueId operand(const Node& node, std::size_t index);

}  // namespace symprof::trace
