// Tensors that control flow depends on and that follow from constants: a loop's counter, a flag.
#pragma once

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Tensors that are computed on the host, with real values, in a run without storage.
struct HostValues {
  std::vector<bool> values;  ///< By ValueId.
  std::vector<bool> nodes;   ///< By index.
};

enum class GraphPlace { outermost, nested };

/// The single elements that the predicate of a `cond` or the operands of a `while_loop` are
/// computed from, if they follow from constants of the file and from sizes. Results of a nested
/// graph count as well: they may be the next condition.
HostValues host_values(const Graph& graph, GraphPlace place);

}  // namespace symprof::trace
