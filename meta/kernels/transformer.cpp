// Kernels of nn.MultiheadAttention's fast path (native/transformers/cuda/attention.cu); their
// callers are in transformer_layers.cpp.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using std::optional;

// Packed projection [B, T, 3·H·D] to three [B, H, T, D] slices of one buffer
// (transform_bias_rescale_qkv_cuda).
std::tuple<Tensor, Tensor, Tensor> split_projection(const Tensor& qkv, const Tensor&,
                                                    int64_t heads) {
  const int64_t batch = qkv.size(0), length = qkv.size(1), width = qkv.size(2) / 3;
  TORCH_CHECK(heads > 0 && width % heads == 0, "_transform_bias_rescale_qkv: found ", heads,
              " heads for a width of ", width, ", wanted a divisor");
  const auto parts = fresh({3, batch, heads, length, width / heads}, qkv).unbind(0);
  return {parts[0], parts[1], parts[2]};
}

Tensor masked_softmax(const Tensor& scores, const Tensor&, optional<int64_t>, optional<int64_t>) {
  return contiguous_like(scores);
}

Tensor masked_softmax_backward(const Tensor& grad_output, const Tensor&, const Tensor&,
                               optional<int64_t>) {
  return contiguous_like(grad_output);
}

}  // namespace

void register_transformer(torch::Library& library) {
  library.impl("_transform_bias_rescale_qkv", &split_projection);
  library.impl("_masked_softmax", &masked_softmax);
  library.impl("_masked_softmax_backward", &masked_softmax_backward);
}

}  // namespace symprof::kernels
