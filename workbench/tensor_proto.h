// Constants in ONNX's format.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "trace/graph/graph.h"

namespace symprof::workbench {

/// A tensor of raw bytes; its type is 0 if ONNX has none for the constant's dtype.
onnx::TensorProto tensor_proto(const ConstantTensor& constant, const std::string& name);

}  // namespace symprof::workbench
