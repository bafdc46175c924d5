#include "shape/step/bias_split.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "shape/step/module_nodes.h"

namespace symprof::shape {
namespace {

// A dispatch key above autograd, reserved for LibTorch's test modes (c10/core/DispatchKey.h) and
// not included by default.
constexpr auto key = c10::DispatchKey::TESTING_ONLY_GenericMode;

// (input, weight, bias, …) in the schema of every operator below.
constexpr std::size_t weight_position = 1, bias_position = 2;

/// [channels] → [channels, 1, …], to broadcast over the spatial dimensions of a convolution with
/// `weight`.
at::Tensor broadcast_bias(const at::Tensor& bias, const at::Tensor& weight) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(weight.dim()) - 1, 1);
  sizes[0] = -1;
  return bias.view(sizes);
}

at::Tensor add_bias(const at::Tensor& product, const at::Tensor& bias) {
  if (ModuleNodes* nodes = ModuleNodes::current()) nodes->split_node(product, bias);
  return at::add(product, bias);
}

void split(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(key);
  const std::size_t count = op.schema().arguments().size();
  c10::IValue& argument = torch::jit::peek(stack, bias_position, count);
  if (!argument.isTensor() || !argument.toTensor().defined()) return op.callBoxed(stack);
  const at::Tensor bias = argument.toTensor();
  const at::Tensor weight = torch::jit::peek(stack, weight_position, count).toTensor();
  argument = c10::IValue();
  op.callBoxed(stack);
  const at::Tensor product = torch::jit::pop(*stack).toTensor();
  const bool is_linear = op.schema().name() == "aten::linear";
  stack->emplace_back(add_bias(product, is_linear ? bias : broadcast_bias(bias, weight)));
}

at::Tensor split_addmm(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                       const at::Scalar& beta, const at::Scalar& alpha) {
  const c10::impl::ExcludeDispatchKeyGuard below(key);
  if (!beta.equal(1) || !alpha.equal(1)) return at::addmm(self, mat1, mat2, beta, alpha);
  return add_bias(at::mm(mat1, mat2), self);
}

}  // namespace

BiasSplit::BiasSplit(bool active) {
  if (active) guard_.emplace(key);
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, library) {
  library.impl("addmm", split_addmm);
  for (const char* op : {"linear", "conv1d", "conv2d", "conv3d", "conv1d.padding", "conv2d.padding",
                         "conv3d.padding", "conv_transpose1d", "conv_transpose2d.input",
                         "conv_transpose3d.input", "convolution"})
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&split>());
}

}  // namespace symprof::shape
