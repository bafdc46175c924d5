// The floating-point type of an ONNX graph, and replacing it by another one.
#pragma once

#include <optional>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The type of most elements of the graph's weights and constants, else of its inputs. Types of at
/// most one byte are quantized and do not count. Empty if there is none.
std::optional<DType> onnx_model_dtype(const Graph& graph);

/// Replaces the type `from` by `to` everywhere. ONNX operators want operands of one type; so the
/// file stays valid if every value of type `from` changes, constants and outputs of Cast and
/// generators included, and no other one does.
void replace_onnx_dtype(Graph& graph, DType from, DType to);

}  // namespace symprof::trace
