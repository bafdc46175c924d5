#include "shape/interpreter/viewable.h"

#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Tensor.h>

namespace symprof::shape {
namespace {

/// As aten::view decides it (aten/src/ATen/native/TensorShape.cpp, view_impl).
bool is_viewable(const at::Tensor& tensor, const std::vector<std::int64_t>& sizes) {
  const auto inferred = at::infer_size_dv(sizes, tensor.numel());
  return at::detail::computeStride(tensor.sizes(), tensor.strides(), inferred).has_value();
}

}  // namespace

bool make_viewable(const std::string& op, std::vector<c10::IValue>& stack) {
  if (op != "aten::view" || stack.size() != 2 || !stack[1].isIntList()) return false;
  const at::Tensor tensor = stack[0].toTensor();
  if (tensor.is_contiguous() || is_viewable(tensor, stack[1].toIntVector())) return false;
  stack[0] = tensor.contiguous();
  return true;
}

}  // namespace symprof::shape
