// Tensors that decide which way a graph goes, and follow from constants: a loop's counter, a flag.
#pragma once

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// What is computed on the host, with real values, among tensors that have none.
struct HostValues {
  std::vector<bool> values;  ///< By ValueId.
  std::vector<bool> nodes;   ///< By index.
};

enum class GraphPlace { outermost, nested };

/// Single elements that the predicate of a `cond` or the operands of a `while_loop` are made of,
/// where they follow from constants of the file and from sizes. In a nested graph its results count
/// as well: they may be the next condition.
HostValues host_values(const Graph& graph, GraphPlace place);

}  // namespace symprof::trace
