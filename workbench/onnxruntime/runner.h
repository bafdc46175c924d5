// Computes the values of an ONNX model with ONNX Runtime, node by node.
#pragma once

#include <memory>
#include <string>

#include "workbench/model.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

/// A runner of the model that was read from `path`, with its functions inlined or not. Each node of
/// the main graph runs in its own session on the values of earlier nodes, so that fused operators
/// of the runtime run too and results come one by one; a value is freed after its last use. Graphs
/// passed to it are those of side_of for this very model, which name the values; `bounds` is taken
/// from another runner. Throws Error (not_available) without the library; while running, throws
/// Error with the runtime's message for a node that it rejects.
ValueRunner onnxruntime_runner(const Model& model, const std::string& path,
                               const ValueRunner& bounds);

/// The version of the library, such as "1.32.0". Throws as above.
std::string onnxruntime_version();

}  // namespace symprof::workbench
