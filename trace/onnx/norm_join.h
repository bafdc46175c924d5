// Batch norm without running statistics, and group norm.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"

namespace symprof::trace {

/// ONNX has no batch norm without running statistics, so the dynamo exporter computes the input's
/// mean and variance before BatchNormalization. Where the nodes of one call (by `calls`, as in
/// composites.h) do that, the last becomes aten::batch_norm, and unused nodes are removed. Autograd
/// has no gradient of running statistics, so PyTorch would refuse the original nodes.
void join_norms(Graph& graph, std::vector<std::string>& calls);

/// The dynamo exporter writes group norm as InstanceNormalization of groups with ones and zeros,
/// and the weight and bias as a product and a sum ("aten_native_group_norm" in onnxscript's
/// torch_lib). Where the nodes of one call do that, the last becomes aten::group_norm, and its
/// weight and bias get the shape [channels] back.
void join_group_norms(Graph& graph, std::vector<std::string>& calls, const ExportedCalls& exported);

}  // namespace symprof::trace
