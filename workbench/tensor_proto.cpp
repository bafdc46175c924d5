#include "workbench/tensor_proto.h"

#include "trace/onnx/tensors.h"

namespace symprof::workbench {

onnx::TensorProto tensor_proto(const ConstantTensor& constant, const std::string& name) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(trace::onnx_element_type(constant.spec.dtype));
  for (const std::int64_t size : constant.spec.sizes) tensor.add_dims(size);
  tensor.set_raw_data(reinterpret_cast<const char*>(constant.data.data()), constant.data.size());
  return tensor;
}

}  // namespace symprof::workbench
