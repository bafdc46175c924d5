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
/// weight that only such nodes read gets its own layout back; one that stands in the file in its
/// own layout as well (`named.copies`) leaves it to that.
void join_linear(Graph& graph, std::vector<std::string>& calls, const NamedParameters& named);

}  // namespace symprof::trace
