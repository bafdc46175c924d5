// PyTorch operators that the exporter writes as several ONNX nodes.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts one node back where the dynamo exporter wrote two for one call: x · Sigmoid(x) for
/// aten::silu, Reciprocal(Sqrt(x)) for aten::rsqrt. So autograd saves what PyTorch saves. `calls`
/// has the name of the exported call of each node ("silu_3", empty when unknown): only nodes of one
/// call are joined, never the same formula written by hand.
void join_composites(Graph& graph, const std::vector<std::string>& calls);

}  // namespace symprof::trace
