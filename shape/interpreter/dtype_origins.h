// Where the operands of a node get their dtypes from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// By value; empty for what is no tensor, and for what has not been made yet.
using ValueDTypes = std::vector<std::optional<DType>>;

/// ": float32 comes from node to_1 (aten::to.dtype), `x = x.float()`; bfloat16 from parameter w"
/// for operands of several dtypes: for each the value that had it first on the way to the node.
/// Empty for operands of one dtype.
std::string dtype_origins(const Graph& graph, const Node& node, const ValueDTypes& dtypes);

}  // namespace symprof::shape
