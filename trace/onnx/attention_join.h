// Attention that the exporter took apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Before opset 23 the dynamo exporter writes scaled_dot_product_attention as two products, a
/// softmax and what belongs to the mask. Where the nodes of one such call (by `calls`, as in
/// composites.h) have that form, the last becomes aten::scaled_dot_product_attention, so that the
/// attention kernel is chosen as in PyTorch; nodes that nothing reads any more go. A dropout that
/// the exporter left out stays left out.
void join_attention(Graph& graph, std::vector<std::string>& calls);

/// True for "silu" and "silu_12" with the name "silu": torch.fx counts calls of one operator.
bool is_call_of(std::string_view call, std::string_view name);

}  // namespace symprof::trace
