// Batch norms that the exporter's optimizer folded into weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"
#include "trace/onnx/initializers.h"

namespace symprof::trace {

/// True for a convolution or linear layer whose metadata calls it a batch norm
/// (onnxscript/rewriter/rules/common/_fuse_batchnorm.py).
bool is_folded_norm(const Node& node, const std::string& call);

/// Output channels of a convolution or Gemm, from its weight; empty for other nodes.
std::optional<std::int64_t> product_channels(const Graph& graph, const Node& node);

/// Notes the folded norms in graph.export_record; only the module if the metadata lacks the
/// parameters.
void find_folded_norms(Graph& graph, const std::vector<std::string>& calls,
                       const ExportedCalls& exported, const Signature& signature);

}  // namespace symprof::trace
