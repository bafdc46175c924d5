#include "meta/kernels/out_variants.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <string_view>

#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

struct Arguments {
  torch::jit::Stack inputs;
  std::vector<at::Tensor> outputs;
};

// Splits the arguments on the stack into inputs and written tensors, and clears them off.
Arguments take_arguments(const c10::FunctionSchema& schema, torch::jit::Stack* stack) {
  Arguments result;
  const auto& arguments = schema.arguments();
  const std::size_t first = stack->size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_out()) {
      result.outputs.push_back((*stack)[first + i].toTensor());
    } else {
      result.inputs.push_back((*stack)[first + i]);
    }
  }
  stack->resize(first);
  return result;
}

void push_outputs(const std::vector<at::Tensor>& outputs, torch::jit::Stack* stack) {
  for (const at::Tensor& output : outputs) stack->emplace_back(output);
}

struct OutOverload {
  const char* name;
  std::string_view functional_overload;
};

// Each row's functional overload has a shape kernel.
constexpr OutOverload out_overloads[] = {
    {"_batch_norm_with_update.out", ""},
    {"_fft_c2c.out", ""},
    {"_fft_c2r.out", ""},
    {"_fft_r2c.out", ""},
    {"_int_mm.out", ""},
    {"_logcumsumexp.out", ""},
    {"_native_batch_norm_legit.no_stats_out", "no_stats"},
    {"_native_batch_norm_legit.out", ""},
    {"_scaled_mm.out", ""},
    {"_scaled_mm_v2.out", ""},
    {"_slow_conv2d_forward.output", ""},
    {"adaptive_avg_pool2d.out", ""},
    {"adaptive_avg_pool3d.out", ""},
    {"adaptive_avg_pool3d_backward.grad_input", "_adaptive_avg_pool3d_backward"},
    {"addbmm.out", ""},
    {"binary_cross_entropy.out", ""},
    {"binary_cross_entropy_backward.grad_input", ""},
    {"bucketize.Tensor_out", "Tensor"},
    {"cholesky.out", ""},
    {"cholesky_inverse.out", ""},
    {"col2im.out", ""},
    {"geqrf.a", ""},
    {"glu_backward.grad_input", ""},
    {"histc.out", ""},
    {"huber_loss.out", ""},
    {"im2col.out", ""},
    {"linalg_eig.out", ""},
    {"linalg_lstsq.out", ""},
    {"linalg_householder_product.out", ""},
    {"linalg_solve_triangular.out", ""},
    {"log_sigmoid_backward.grad_input", ""},
    {"log_sigmoid_forward.output", ""},
    {"max.unary_out", ""},
    {"max_pool3d_with_indices.out", ""},
    {"max_pool3d_with_indices_backward.grad_input", ""},
    {"max_unpool2d.out", ""},
    {"max_unpool3d.out", ""},
    {"min.unary_out", ""},
    {"multi_margin_loss.out", ""},
    {"multi_margin_loss_backward.grad_input", ""},
    {"multilabel_margin_loss_backward.grad_input", ""},
    {"multilabel_margin_loss_forward.output", ""},
    {"multinomial.out", ""},
    {"nansum.out", ""},
    {"native_batch_norm.out", ""},
    {"nll_loss2d_backward.grad_input", ""},
    {"nll_loss2d_forward.output", ""},
    {"nonzero_static.out", ""},
    {"ormqr.out", ""},
    {"reflection_pad2d.out", ""},
    {"reflection_pad2d_backward.grad_input", ""},
    {"replication_pad2d_backward.grad_input", ""},
    {"replication_pad3d_backward.grad_input", ""},
    {"searchsorted.Scalar_out", "Scalar"},
    {"searchsorted.Tensor_out", "Tensor"},
    {"slow_conv3d_forward.output", "slow_conv3d_forward"},
    {"slow_conv_transpose3d.out", ""},
    {"std.correction_out", "correction"},
    {"take.out", ""},
    {"var.correction_out", "correction"},
};

// A row's second entry is an overload of the same operator or, for operators without one, the name
// of the operator that computes the same.
c10::OperatorHandle functional_of(const c10::OperatorName& name) {
  const std::string full = name.name.substr(name.name.find("::") + 2) + "." + name.overload_name;
  const auto* row =
      std::find_if(std::begin(out_overloads), std::end(out_overloads),
                   [&](const OutOverload& candidate) { return candidate.name == full; });
  TORCH_INTERNAL_ASSERT(row != std::end(out_overloads));
  const std::string other(row->functional_overload);
  auto& dispatcher = c10::Dispatcher::singleton();
  if (const auto op = dispatcher.findSchema({name.name, other})) return *op;
  return dispatcher.findSchemaOrThrow(("aten::" + other).c_str(), "");
}

}  // namespace

void elementwise_into(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  auto arguments = take_arguments(op.schema(), stack);
  std::vector<at::Tensor> inputs;
  for (const auto& value : arguments.inputs) {
    if (value.isTensor()) inputs.push_back(value.toTensor());
  }
  for (at::Tensor& output : arguments.outputs) pointwise_into(inputs, output);
  push_outputs(arguments.outputs, stack);
}

void functional_into(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  auto arguments = take_arguments(op.schema(), stack);
  functional_of(op.operator_name()).callBoxed(&arguments.inputs);
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
    resize_into(arguments.outputs[i], arguments.inputs.at(i).toTensor().sizes());
  }
  push_outputs(arguments.outputs, stack);
}

void register_out_variants(torch::Library& library) {
  for (const OutOverload& row : out_overloads) {
    library.impl(row.name, torch::CppFunction::makeFromBoxedFunction<&functional_into>());
  }
}

}  // namespace symprof::kernels
