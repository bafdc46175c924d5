// Linear layers that the exporter wrote as a product and a sum.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/parameter_names.h"

namespace symprof::trace {

/// Exporters write nn.Linear as MatMul with a transposed weight, and Add for the bias. Where the
/// nodes are of one exported call, or, without metadata, of one module with a weight that the
/// exporter named, they become one aten::linear: autocast then casts the bias too. A transposed
/// weight used only by such nodes gets its original layout back; if the file also has the original
/// (`named.copies`), that one is used.
void join_linear(Graph& graph, std::vector<std::string>& calls, const NamedParameters& named);

}  // namespace symprof::trace
