// Tensors whose data lies in a file beside the model.
#pragma once

#include <memory>
#include <string>

#include "trace/graph/graph.h"

namespace onnx {
class TensorProto;
}

namespace symprof::trace {

/// `tensor` with its data, out of the file that it names in the folder of the model at `path`;
/// without where that file is not there. Throws Error for a location outside that folder, a length
/// that is not the tensor's, and a file that ends before the data.
std::shared_ptr<const ConstantTensor> external_tensor(const ::onnx::TensorProto& tensor,
                                                      const std::string& path);

}  // namespace symprof::trace
