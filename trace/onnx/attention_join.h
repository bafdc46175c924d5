// Attention that the exporter took apart.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"

namespace symprof::trace {

/// Before opset 23 the dynamo exporter writes scaled_dot_product_attention as two products, a
/// softmax and what belongs to the mask. Where the nodes of one such call (by `calls`, as in
/// composites.h) have that form, the last becomes aten::scaled_dot_product_attention, so that the
/// attention kernel is chosen as in PyTorch; nodes that nothing reads any more go. The exporter
/// leaves the dropout inside of attention out: where `exported` has the call, its dropout is put
/// back, and noted in graph.export_record where there is no attention to put it into.
void join_attention(Graph& graph, std::vector<std::string>& calls,
                    const ExportedCalls& exported = {});

}  // namespace symprof::trace
