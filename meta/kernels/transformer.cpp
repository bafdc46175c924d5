// The fast path of nn.MultiheadAttention and nn.TransformerEncoderLayer
// (native/transformers/cuda/attention.cu).
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

// Query [B, T, E]: output like it, and the weights [B, T, T] averaged over heads or [B, H, T, T].
std::tuple<Tensor, Tensor> multi_head(const Tensor& query, const Tensor& key, const Tensor&,
                                      int64_t width, int64_t heads, const Tensor&, const Tensor&,
                                      const Tensor&, const Tensor&, const optional<Tensor>&,
                                      bool need_weights, bool average, optional<int64_t>) {
  const int64_t batch = query.size(0), queries = query.size(1), keys = key.size(1);
  Tensor weights;
  if (need_weights && average) weights = fresh({batch, queries, keys}, query);
  if (need_weights && !average) weights = fresh({batch, heads, queries, keys}, query);
  return {fresh({batch, queries, width}, query), weights};
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
  library.impl("_native_multi_head_attention", &multi_head);
  library.impl("_masked_softmax", &masked_softmax);
  library.impl("_masked_softmax_backward", &masked_softmax_backward);
}

}  // namespace symprof::kernels
