// Attention that the exporter decomposed.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"

namespace symprof::trace {

/// Before opset 23 the dynamo exporter writes scaled_dot_product_attention as two products, a
/// softmax and mask operations. Where the nodes of one such call (by `calls`, as in composites.h)
/// have that form, the last becomes aten::scaled_dot_product_attention, so that the attention
/// kernel is chosen as in PyTorch; unused nodes are removed. The exporter drops attention's
/// dropout: if `exported` has the call, the dropout is restored, or noted in graph.export_record if
/// there is no attention node.
void join_attention(Graph& graph, std::vector<std::string>& calls,
                    const ExportedCalls& exported = {});

}  // namespace symprof::trace
