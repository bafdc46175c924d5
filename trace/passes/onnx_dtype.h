// The floating-point type of an ONNX graph, in whose place another one is put.
#pragma once

#include <optional>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The type of most numbers of the graph's weights and constants, else of its inputs; those of a
/// byte and less are quantised numbers, which belong to a scale. Empty where there is none.
std::optional<DType> onnx_model_dtype(const Graph& graph);

/// Puts `to` where the graph has `from`. ONNX's operators want operands of one type, and a file is
/// right in its own: it stays so if each value of `from` changes, constants and what a Cast or a
/// generator makes included, and no other does.
void replace_onnx_dtype(Graph& graph, DType from, DType to);

}  // namespace symprof::trace
