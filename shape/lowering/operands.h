// Helpers for mixing real and fake tensors: tells them apart and moves them to one device.
#pragma once

#include <ATen/ATen.h>

#include "base/tensor_spec.h"
#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// Results with more elements than this are not computed on the host.
constexpr std::int64_t largest_host_result = 64 * 1024;

inline at::ScalarType scalar_type(DType dtype) { return static_cast<at::ScalarType>(dtype); }
inline at::TensorOptions host_options(at::ScalarType type) {
  return at::device(at::kCPU).dtype(type);
}

/// True for a tensor on the host whose values can be read.
bool is_real(const at::Tensor& tensor);

/// A host copy of a tensor's values: of a real tensor, or of a device tensor with known values
/// (meta/fake/known_values.h). Undefined if the values are unknown.
at::Tensor values_of(const at::Tensor& tensor);

/// A real int64 tensor.
at::Tensor host_integers(const Integers& values);

/// `tensor` on the device of `like`.
at::Tensor to_device_of(const at::Tensor& tensor, const at::Tensor& like);

/// Options for a result of `numel` elements without tensor operands: small integer tensors stay on
/// the host, others are created on the device.
at::TensorOptions result_options(const OnnxCall& call, at::ScalarType type, std::int64_t numel);

/// The inputs from `first` on, ready for one element-wise call: real tensors of more than one
/// element move to the device if another operand is there or the result would be large. Throws
/// Error if their sizes do not broadcast.
Tensors broadcast_operands(const OnnxCall& call, std::size_t first = 0);

/// `axis` of a tensor of `rank` dimensions, counted from the front. Throws Error outside the rank.
std::int64_t checked_axis(const OnnxCall& call, std::int64_t axis, std::int64_t rank);

/// Axes that are an input since some opset and an attribute before it. Empty if neither is given.
std::optional<Integers> axes_of(const OnnxCall& call, std::size_t input,
                                std::string_view attribute = "axes");

/// The dtype of a "to" attribute (TensorProto::DataType). Throws Error for an unsupported dtype.
at::ScalarType dtype_of_attribute(const OnnxCall& call, std::int64_t onnx_type);

}  // namespace symprof::lowering
