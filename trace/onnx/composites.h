// PyTorch operators that the exporter writes as several ONNX nodes.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Restores one node for two that the dynamo exporter wrote for one call: x · Sigmoid(x) for
/// aten::silu, Reciprocal(Sqrt(x)) for aten::rsqrt. Then autograd saves the same tensors as
/// PyTorch. `calls`: the exported call of each node ("silu_3", empty if unknown): only nodes of one
/// call are joined, never the same formula in user code.
void join_composites(Graph& graph, const std::vector<std::string>& calls);

}  // namespace symprof::trace
