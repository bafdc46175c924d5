// ONNX tensors and element types as plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/tensor_spec.h"
#include "trace/graph/graph.h"

namespace onnx {
class TensorProto;
}

namespace symprof::trace {

/// The dtype of TensorProto::DataType `type`; empty for strings and six-bit types.
std::optional<DType> onnx_dtype(std::int32_t type);

/// The TensorProto::DataType of `dtype`; 0 for dtypes that ONNX lacks.
std::int32_t onnx_element_type(DType dtype);

/// The dtype and sizes of `tensor`. Throws Error for a type that has no DType, a negative size, or
/// more bytes than 64 bits count; `where` is for the message.
TensorSpec tensor_spec(const ::onnx::TensorProto& tensor, const std::string& where);

/// `tensor` with its data, empty if external or skipped. Throws Error if the data has the wrong
/// length.
std::shared_ptr<const ConstantTensor> constant_tensor(const ::onnx::TensorProto& tensor,
                                                      const std::string& where);

}  // namespace symprof::trace
