// A part of a model as a model of its own.
#pragma once

#include <string>
#include <vector>

#include "workbench/model.h"

namespace onnx {
class GraphProto;
}

namespace symprof::workbench {

/// Reduces the main graph to what computes the values `to` (empty: its outputs) from the values
/// `from` (empty: its inputs). A name is that of a value or a node; a node begins at its inputs and
/// ends at its outputs. Values of `from` become inputs; used inputs, initializers and functions are
/// kept. Throws Error for an unknown name, and for a new input whose type onnx cannot infer.
void cut(onnx::ModelProto& model, const std::vector<std::string>& from,
         const std::vector<std::string>& to, const std::string& path);

/// Removes unused initializers and value_info.
void drop_unused_values(onnx::GraphProto& graph);
/// The same for the model's graph, and unused functions and opsets.
void drop_unused(onnx::ModelProto& model);

}  // namespace symprof::workbench
