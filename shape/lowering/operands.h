// Real and fake tensors side by side: which is which, and bringing them to one device.
#pragma once

#include <ATen/ATen.h>

#include "base/tensor_spec.h"
#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// Results of more elements than this are not computed on the host.
constexpr std::int64_t largest_host_result = 64 * 1024;

inline at::ScalarType scalar_type(DType dtype) { return static_cast<at::ScalarType>(dtype); }
inline at::TensorOptions host_options(at::ScalarType type) {
  return at::device(at::kCPU).dtype(type);
}

/// True for a tensor on the host whose values can be read.
bool is_real(const at::Tensor& tensor);

/// The values of a tensor for reading, in host memory: of a real one, and of one on the device
/// where they are known (meta/fake/known_values.h). Undefined where nobody knows them.
at::Tensor values_of(const at::Tensor& tensor);

/// A real int64 tensor.
at::Tensor host_integers(const Integers& values);

/// `tensor` on the device of `like`.
at::Tensor to_device_of(const at::Tensor& tensor, const at::Tensor& like);

/// Options for a result of `numel` elements that no tensor operand places: integers that are few
/// stay on the host, the rest is made on the device.
at::TensorOptions result_options(const OnnxCall& call, at::ScalarType type, std::int64_t numel);

/// The inputs from `first` on, ready for one element-wise call: real tensors of more than one
/// element go to the device when another operand lies there, or when the result would be large.
/// Throws Error when their sizes do not broadcast.
Tensors broadcast_operands(const OnnxCall& call, std::size_t first = 0);

/// `axis` of a tensor of `rank` dimensions, counted from the front. Throws Error outside the rank.
std::int64_t checked_axis(const OnnxCall& call, std::int64_t axis, std::int64_t rank);

/// Axes that are an input since some opset and were an attribute before. Empty when neither is
/// there.
std::optional<Integers> axes_of(const OnnxCall& call, std::size_t input,
                                std::string_view attribute = "axes");

/// The dtype of a "to" attribute (TensorProto::DataType). Throws Error for one without a DType.
at::ScalarType dtype_of_attribute(const OnnxCall& call, std::int64_t onnx_type);

}  // namespace symprof::lowering
