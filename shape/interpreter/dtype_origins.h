// Origins of the dtypes of a node's operands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// By value; empty for non-tensors and for values not yet computed.
using ValueDTypes = std::vector<std::optional<DType>>;

struct DTypeOrigins {
  std::vector<ValueId> values;  ///< For each dtype, the first value with it.
  std::string text;
};

/// A call that PyTorch refuses for the dtypes of its operands.
struct DTypeConflict final : Error {
  DTypeConflict(Error error, std::vector<ValueId> values)
      : Error(std::move(error)), origins(std::move(values)) {}
  std::vector<ValueId> origins;  ///< As in DTypeOrigins, in the graph that contains the call.
  /// For a nested graph: the nodes that contain it, the outermost last.
  std::vector<std::size_t> nested_in;
};

/// ": float32 comes from node to_1 (aten::to.dtype), `x = x.float()`; bfloat16 from parameter w"
/// for operands of several dtypes: for each dtype, the first value with it on the path to the node.
/// Empty if the operands have one dtype.
DTypeOrigins dtype_origins(const Graph& graph, const Node& node, const ValueDTypes& dtypes);

}  // namespace symprof::shape
