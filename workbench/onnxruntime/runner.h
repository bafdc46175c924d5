// The values of an ONNX model by ONNX Runtime, node by node.
#pragma once

#include <memory>
#include <string>

#include "workbench/model.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

/// A runner of the model that was read from `path`, with its functions open or closed as they are.
/// It runs each node of the main graph in a session of its own, on values that the nodes before it
/// have made, so that fused operators of the runtime run too and results come one by one: a value
/// goes at its last use. Its graphs are those of side_of for this very model, which name the
/// values; `bounds` is another runner's. Throws Error (not_available) where the library is not
/// there, and while running Error for the node that the runtime refuses, in its words.
ValueRunner onnxruntime_runner(const Model& model, const std::string& path,
                               const ValueRunner& bounds);

/// The version of the library: "1.32.0". Throws as above.
std::string onnxruntime_version();

}  // namespace symprof::workbench
