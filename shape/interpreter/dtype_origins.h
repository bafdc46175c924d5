// Where the operands of a node get their dtypes from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// By value; empty for what is no tensor, and for what has not been made yet.
using ValueDTypes = std::vector<std::optional<DType>>;

struct DTypeOrigins {
  std::vector<ValueId> values;  ///< For each dtype, the value that had it first.
  std::string text;
};

/// A call that PyTorch refuses for the dtypes of its operands.
struct DTypeConflict final : Error {
  DTypeConflict(Error error, std::vector<ValueId> values)
      : Error(std::move(error)), origins(std::move(values)) {}
  std::vector<ValueId> origins;  ///< As in DTypeOrigins, of the graph in which the call stands.
  /// Where that is a nested graph: the nodes that have it, the outermost last.
  std::vector<std::size_t> nested_in;
};

/// ": float32 comes from node to_1 (aten::to.dtype), `x = x.float()`; bfloat16 from parameter w"
/// for operands of several dtypes: for each the value that had it first on the way to the node.
/// Empty for operands of one dtype.
DTypeOrigins dtype_origins(const Graph& graph, const Node& node, const ValueDTypes& dtypes);

}  // namespace symprof::shape
