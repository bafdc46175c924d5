// Tensors with external data in a file beside the model.
#pragma once

#include <memory>
#include <string>

#include "trace/graph/graph.h"

namespace onnx {
class TensorProto;
}

namespace symprof::trace {

/// `tensor` with its data from the external file in the folder of the model at `path`; without data
/// if the file is missing. Throws Error for a location outside that folder, a wrong length, and a
/// truncated file.
std::shared_ptr<const ConstantTensor> external_tensor(const ::onnx::TensorProto& tensor,
                                                      const std::string& path);

}  // namespace symprof::trace
