// Parameters that a step does not train.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Clears `requires_grad` of the parameters that one of `patterns` matches. A pattern is a
/// parameter's name or a module's path. A path means all parameters below it, and those that an
/// exporter renamed ("val_12", "onnx::MatMul_7") and the module's nodes read. `*` stands for any
/// text of one component ("encoder.layers.*.bias"), `?` for a character. Throws Error for a pattern
/// that matches nothing.
void freeze_parameters(Graph& graph, const std::vector<std::string>& patterns);

}  // namespace symprof::trace
