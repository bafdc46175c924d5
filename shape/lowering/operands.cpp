#include "shape/lowering/operands.h"

#include <ATen/ExpandUtils.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meta/fake/known_values.h"
#include "trace/onnx/tensors.h"

namespace symprof::lowering {

bool is_real(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cpu() && !tensor.is_meta() &&
         !tensor.key_set().has(c10::DispatchKey::Fake);
}

at::Tensor values_of(const at::Tensor& tensor) {
  return meta::known_values(tensor).value_or(at::Tensor());
}

at::Tensor host_integers(const Integers& values) {
  at::Tensor tensor =
      at::empty({static_cast<std::int64_t>(values.size())}, host_options(at::kLong));
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<std::int64_t>());
  return tensor;
}

at::Tensor to_device_of(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.device() == like.device() ? tensor : tensor.to(like.device(), tensor.scalar_type());
}

at::TensorOptions result_options(const OnnxCall& call, at::ScalarType type, std::int64_t numel) {
  const bool on_host =
      at::isIntegralType(type, /*includeBool=*/true) && numel <= largest_host_result;
  return at::device(on_host ? c10::Device(c10::kCPU) : call.device).dtype(type);
}

Tensors broadcast_operands(const OnnxCall& call, std::size_t first) {
  Tensors operands(call.inputs.begin() + static_cast<std::ptrdiff_t>(first), call.inputs.end());
  at::DimVector sizes;
  std::optional<c10::Device> device;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const at::Tensor& operand = call.input(first + i);
    if (!is_real(operand)) device = operand.device();
    if (!at::are_expandable(sizes, operand.sizes()))
      call.fail(fmt::format("input {} is [{}], which does not broadcast with [{}]", first + i,
                            fmt::join(operand.sizes(), ", "), fmt::join(sizes, ", ")),
                "Sizes have to be equal or 1, counted from the last dimension.");
    sizes = at::infer_size_dimvector(sizes, operand.sizes());
  }
  if (!device && c10::multiply_integers(sizes) > largest_host_result) device = call.device;
  if (!device || device->is_cpu()) return operands;
  for (at::Tensor& operand : operands)
    if (is_real(operand) && operand.dim() > 0) operand = operand.to(*device, operand.scalar_type());
  return operands;
}

std::int64_t checked_axis(const OnnxCall& call, std::int64_t axis, std::int64_t rank) {
  const std::int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= std::max<std::int64_t>(rank, 1))
    call.fail(fmt::format("axis {} of a tensor of rank {}", axis, rank),
              fmt::format("Wanted: {} to {}.", -rank, rank - 1));
  return from_front;
}

std::optional<Integers> axes_of(const OnnxCall& call, std::size_t input,
                                std::string_view attribute) {
  if (call.has(input)) return call.integers_of(input);
  return call.integers(attribute);
}

at::ScalarType dtype_of_attribute(const OnnxCall& call, std::int64_t onnx_type) {
  const auto dtype = trace::onnx_dtype(static_cast<std::int32_t>(onnx_type));
  if (!dtype)
    call.fail(fmt::format("element type number {} is not supported", onnx_type),
              "Wanted: a floating-point, integer, boolean or complex type.");
  return scalar_type(*dtype);
}

}  // namespace symprof::lowering
