// Operators that cannot run on tensors without storage, with advice.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "base/error.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

void refuse_quantized(const c10::OperatorHandle& op, torch::jit::Stack*) {
  throw Error(c10::toString(op.operator_name()),
              "cannot be simulated: quantized tensors (torch.qint8 and its kin) are not",
              "Hold the integers and their scales in tensors of their own, as torchao does.");
}

void refuse_sparse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  throw Error(c10::toString(op.operator_name()),
              "cannot be simulated: sparse tensors are not, as data decide their sizes",
              "Keep the tensor dense.");
}

constexpr const char* sparse[] = {
    "_to_sparse",     "_to_sparse.sparse_dim", "_to_sparse_bsc",
    "_to_sparse_bsr", "_to_sparse_csc",        "_to_sparse_csr",
};

constexpr const char* quantized[] = {
    "_empty_affine_quantized",
    "_empty_per_channel_affine_quantized",
    "_make_per_channel_quantized_tensor",
    "_make_per_tensor_quantized_tensor",
    "dequantize.self",
    "dequantize.tensors",
    "empty_quantized",
    "int_repr",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "qscheme",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor.tensor_qparams",
    "quantize_per_tensor.tensors",
    "quantize_per_tensor_dynamic",
    "quantized_max_pool2d",
};

}  // namespace

void register_refused(torch::Library& library) {
  for (const char* op : sparse)
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>());
  for (const char* op : quantized)
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_quantized>());
}

}  // namespace symprof::kernels
