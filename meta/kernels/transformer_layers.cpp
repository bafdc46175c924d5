// Fused operators of nn.MultiheadAttention and nn.TransformerEncoderLayer in evaluation. Each is
// one operator for autograd and Python, and its CUDA kernel is a function that makes other calls:
// the same calls are made here, so that each is counted separately and its results have the same
// lifetimes.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <utility>
#include <vector>

#include "meta/attention/attention_choice.h"
#include "meta/fake/fake_mode.h"
#include "meta/kernels/families.h"
#include "meta/kernels/without_gradients.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using std::optional;

struct Projections {
  int64_t width, heads;
  Tensor in_weight, in_bias, out_weight, out_bias;
};

// native_multi_head_attention_cuda (native/transformers/cuda/attention.cu).
void check_shapes(const Tensor& query, const Tensor& key, const Tensor& value,
                  const Projections& of) {
  const int64_t width = of.width;
  TORCH_CHECK(query.dim() == 3 && query.sizes() == key.sizes() && key.sizes() == value.sizes(),
              "_native_multi_head_attention: found query, key and value of sizes ", query.sizes(),
              ", ", key.sizes(), " and ", value.sizes(),
              ", wanted three of [batch, length, width]");
  TORCH_CHECK(query.size(2) == width && of.heads > 0 && width % of.heads == 0,
              "_native_multi_head_attention: found a width of ", query.size(2), ", embed_dim ",
              width, " and ", of.heads,
              " heads, wanted the first two equal and the heads a divisor");
  TORCH_CHECK(of.in_weight.sizes() == at::IntArrayRef({3 * width, width}) &&
                  of.in_bias.sizes() == at::IntArrayRef({3 * width}),
              "_native_multi_head_attention: found projections of sizes ", of.in_weight.sizes(),
              " and ", of.in_bias.sizes(), ", wanted ", at::IntArrayRef({3 * width, width}),
              " and ", at::IntArrayRef({3 * width}));
}

// [B, T, H·D] as [B, H, T, D].
Tensor split_heads(const Tensor& x, int64_t heads) {
  return x.view({x.size(0), -1, heads, x.size(2) / heads}).transpose(1, 2);
}

// Before the projection PyTorch checks, with views of the input, if a fused kernel runs.
bool takes_fused_kernel(const Tensor& query, const Projections& of) {
  const Tensor q = split_heads(query, of.heads), k = split_heads(query, of.heads),
               v = split_heads(query, of.heads);
  const meta::AttentionPolicy* policy = meta::current_attention_policy();
  const at::SDPBackend backend = meta::sdp_choice({.query = q, .key = k, .value = v},
                                                  policy ? *policy : meta::AttentionPolicy{});
  return backend != at::SDPBackend::math;
}

Tensor fused_attention(const Tensor& query, const Projections& of) {
  const Tensor x = at::linear(query, of.in_weight, of.in_bias);
  std::vector<Tensor> parts = x.chunk(3, -1);
  for (Tensor& part : parts) part = split_heads(part, of.heads);
  const Tensor mixed =
      at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, false, std::nullopt);
  const Tensor joined = mixed.transpose(1, 2).reshape({x.size(0), -1, of.width});
  return at::linear(joined, of.out_weight, of.out_bias);
}

// qkv_projection (native/transformers/attention.cpp); the biases are added later.
Tensor project(const Tensor& query, const Tensor& key, const Tensor& value, const Projections& of) {
  if (query.is_same(key) && key.is_same(value)) return at::matmul(query, of.in_weight.t());
  if (key.is_same(value)) {
    const auto weights = of.in_weight.split_with_sizes({of.width, 2 * of.width}, 0);
    const Tensor q = at::matmul(query, weights[0].t());
    return at::cat({q, at::matmul(key, weights[1].t())}, 2);
  }
  const auto weights = of.in_weight.split(of.width, 0);
  const Tensor q = at::matmul(query, weights[0].t());
  const Tensor k = at::matmul(key, weights[1].t());
  return at::cat({q, k, at::matmul(value, weights[2].t())}, 2);
}

Tensor merge_heads(const Tensor& x) {
  return x.view({x.size(0) * x.size(1), x.size(2), x.size(3)});
}

// transform0213_gemm_nt_bias: [B, H, T, D] to [B, T, H·D], then the output projection.
Tensor project_back(const Tensor& mixed, const Projections& of) {
  const Tensor joined = mixed.permute({0, 2, 1, 3}).contiguous();
  const Tensor rows = at::linear(joined.view({-1, of.width}), of.out_weight, of.out_bias);
  return rows.view({joined.size(0), joined.size(1), of.width});
}

// masked_softmax: into a new tensor with a mask, else in place.
Tensor probabilities(Tensor scores, optional<Tensor> mask, optional<int64_t> mask_type) {
  if (!mask) return at::_softmax_out(scores, scores, 3, false);
  if (mask->scalar_type() != at::kBool) mask = mask->to(at::kBool);
  return at::_masked_softmax(scores, *mask, 3, mask_type);
}

std::tuple<Tensor, Tensor> native_multi_head(const Tensor& query, const Tensor& key,
                                             const Tensor& value, int64_t width, int64_t heads,
                                             const Tensor& in_weight, const Tensor& in_bias,
                                             const Tensor& out_weight, const Tensor& out_bias,
                                             const optional<Tensor>& mask, bool need_weights,
                                             bool average_weights, optional<int64_t> mask_type) {
  const WithoutGradients no_gradients;
  const Projections of{width, heads, in_weight, in_bias, out_weight, out_bias};
  check_shapes(query, key, value, of);
  const bool is_self = query.is_same(key) && key.is_same(value);
  if (is_self && !need_weights && !mask && takes_fused_kernel(query, of))
    return {fused_attention(query, of), Tensor()};

  Tensor projected = project(query, key, value, of);
  if (projected.numel() == 0) return {at::empty_like(query), Tensor()};
  const auto [q, k, v] = at::_transform_bias_rescale_qkv(projected, in_bias, heads);
  projected = Tensor();
  Tensor scores = at::bmm(merge_heads(q), merge_heads(k).transpose(1, 2));
  scores = probabilities(scores.view({q.size(0), heads, q.size(2), q.size(2)}), mask, mask_type);
  Tensor mixed = merge_heads(q);  // Reuses the query's memory, which is not needed any more.
  at::bmm_out(mixed, merge_heads(scores), merge_heads(v));
  if (!need_weights) scores = Tensor();
  const Tensor result = project_back(mixed.view(q.sizes()), of);
  if (need_weights && average_weights) scores = scores.sum(1).div_(heads);
  return {result, scores};
}

// transformer_encoder_layer_forward (native/transformers/transformer.cpp).
Tensor feed_forward(const Tensor& x, const Tensor& weight_1, const Tensor& bias_1,
                    const Tensor& weight_2, const Tensor& bias_2, bool use_gelu) {
  const at::IntArrayRef batch = x.sizes().slice(0, 2);
  const Tensor rows = x.view({-1, x.size(2)});
  Tensor y = at::_addmm_activation(bias_1, rows, weight_1.t(), 1, 1, use_gelu);
  y = at::addmm(bias_2, y, weight_2.t());
  return y.view({batch[0], batch[1], -1});
}

Tensor encoder_layer(const Tensor& source, int64_t width, int64_t heads, const Tensor& in_weight,
                     const Tensor& in_bias, const Tensor& out_weight, const Tensor& out_bias,
                     bool use_gelu, bool norm_first, double epsilon, const Tensor& norm_weight_1,
                     const Tensor& norm_bias_1, const Tensor& norm_weight_2,
                     const Tensor& norm_bias_2, const Tensor& weight_1, const Tensor& bias_1,
                     const Tensor& weight_2, const Tensor& bias_2, const optional<Tensor>& mask,
                     optional<int64_t> mask_type) {
  const WithoutGradients no_gradients;
  if (source.numel() == 0) return source.clone();
  const auto norm_1 = [&](const Tensor& x) {
    return at::layer_norm(x, {width}, norm_weight_1, norm_bias_1, epsilon, true);
  };
  const auto norm_2 = [&](const Tensor& x) {
    return at::layer_norm(x, {width}, norm_weight_2, norm_bias_2, epsilon, true);
  };
  Tensor x = norm_first ? norm_1(source) : source;
  x = std::get<0>(at::_native_multi_head_attention(x, x, x, width, heads, in_weight, in_bias,
                                                   out_weight, out_bias, mask, false, true,
                                                   mask_type));
  x.add_(source);
  if (!norm_first) x = norm_1(x);
  const Tensor attended = x;
  if (norm_first) x = norm_2(x);
  x = feed_forward(x, weight_1, bias_1, weight_2, bias_2, use_gelu);
  x.add_(attended);
  return norm_first ? x : norm_2(x);
}

}  // namespace

void register_transformer_layers(torch::Library& library) {
  library.impl("_native_multi_head_attention", &native_multi_head);
  library.impl("_transformer_encoder_layer_fwd", &encoder_layer);
}

}  // namespace symprof::kernels
