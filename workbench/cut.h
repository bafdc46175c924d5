// A part of a model as a model of its own.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "workbench/model.h"

namespace onnx {
class GraphProto;
}

namespace symprof::workbench {

/// Keeps of the main graph what makes the values `to` (empty: its outputs) from the values `from`
/// (empty: its inputs). A name is a value's or a node's: a node begins at its inputs and ends at
/// its outputs. Values of `from` become inputs; inputs and initializers that are read stay, and so
/// do functions. Throws Error for a name that is not there, and for a new input whose type onnx
/// cannot infer.
void cut(onnx::ModelProto& model, const std::vector<std::string>& from,
         const std::vector<std::string>& to, const std::string& path);

/// Removes initializers and value_info that nothing reads.
void drop_unused_values(onnx::GraphProto& graph);
/// The same of the model's graph, and functions and opsets that nothing reads.
void drop_unused(onnx::ModelProto& model);

}  // namespace symprof::workbench
