// Which parameters the patterns of --freeze mean.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// By value: whether it is a parameter that one of `patterns` matches. A pattern is a parameter's
/// name or a module's path, which means all parameters below it, and of those that an exporter
/// renamed ("val_12", "onnx::MatMul_7") the ones that its nodes take; `*` stands for any text of
/// one component ("encoder.layers.*.bias"), `?` for a character. Throws Error for a pattern that
/// matches nothing.
std::vector<bool> frozen_parameters(const Graph& graph, const std::vector<std::string>& patterns);

}  // namespace symprof::trace
