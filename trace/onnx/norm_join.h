// Batch norm without running statistics.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// ONNX has no batch norm without running statistics, so the dynamo exporter computes the input's
/// mean and variance before BatchNormalization. Where the nodes of one call (by `calls`, as in
/// composites.h) do that, the last becomes aten::batch_norm, and nodes that nothing reads any more
/// go. Autograd has no gradient of running statistics, so PyTorch refuses the nodes as they are.
void join_norms(Graph& graph, std::vector<std::string>& calls);

}  // namespace symprof::trace
