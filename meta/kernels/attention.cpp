// Fused attention. Query, key and value are [B, H, L, D]; "BSHD" below is the storage order
// [B, L, H, D] seen through a transpose, which is what models that split a projection produce.
// Layouts from native/transformers/cuda/attention.cu, flash_attn/flash_api.cpp, sdp_utils.h.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using c10::SymInt;
using std::optional;
using Gradients = std::tuple<Tensor, Tensor, Tensor>;
using Attention =
    std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt, Tensor, Tensor, Tensor>;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Keeps the stride order of `tensor`, decided on its BSHD view as the flash kernels do.
Tensor like_bshd(const Tensor& tensor) {
  return at::empty_like(tensor.transpose(1, 2)).transpose(1, 2);
}

Tensor fresh_bshd(int64_t batch, int64_t heads, int64_t length, int64_t width, const Tensor& like) {
  return fresh({batch, length, heads, width}, like).transpose(1, 2);
}

// A single query row shared by groups of heads is computed as one query of group-size rows; what
// comes back is a contiguous [B, 1, H, D].
Tensor flash_output(const Tensor& query, const Tensor& key, double dropout_p) {
  const bool grouped_row = query.size(2) == 1 && query.size(1) > key.size(1) && dropout_p == 0;
  if (!grouped_row) return like_bshd(query);
  return fresh_bshd(query.size(0), query.size(1), 1, query.size(3), query);
}

Attention flash(const Tensor& query, const Tensor& key, const Tensor&, double dropout_p, bool,
                bool return_debug_mask, optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1);
  const int64_t queries = query.size(2), keys = key.size(2);
  const bool debug = return_debug_mask && dropout_p > 0;
  return {flash_output(query, key, dropout_p),
          fresh({batch, heads, queries}, query, at::kFloat),
          Tensor(),
          Tensor(),
          queries,
          keys,
          fresh({2}, query, at::kUInt64),
          fresh({}, query, at::kUInt64),
          debug ? fresh({batch, heads, round_up(queries, 128), round_up(keys, 128)}, query)
                : fresh({0}, query)};
}

Gradients flash_backward(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor&, const Tensor&, const Tensor&, const Tensor&, SymInt, SymInt,
                         double, bool, const Tensor&, const Tensor&, optional<double>) {
  return {like_bshd(query), like_bshd(key), like_bshd(value)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient(const Tensor& query, const Tensor&,
                                                     const Tensor& value, const optional<Tensor>&,
                                                     bool compute_log_sumexp, double, bool,
                                                     optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1), queries = query.size(2);
  const int64_t rows = compute_log_sumexp ? round_up(queries, 32) : 0;
  return {fresh_bshd(batch, heads, queries, value.size(3), query),
          fresh({batch, heads, rows}, query, at::kFloat), fresh({}, query, at::kLong),
          fresh({}, query, at::kLong)};
}

// The bias gradient is allocated with rows of a multiple of 16 and returned as a slice.
Tensor bias_gradient(const Tensor& bias) {
  auto sizes = bias.sizes().vec();
  sizes.back() = round_up(sizes.back(), 16);
  return fresh(sizes, bias).slice(-1, 0, bias.size(-1));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor&, const Tensor&, const Tensor&, const Tensor&, double,
    std::array<bool, 4> wanted, bool, optional<double>) {
  if (!grad_output.defined()) return {};
  const auto gradient = [](const Tensor& of) {
    return fresh_bshd(of.size(0), of.size(1), of.size(2), of.size(3), of);
  };
  return {gradient(query), gradient(key), gradient(value),
          bias.defined() && wanted[3] ? bias_gradient(bias) : Tensor()};
}

// alloc_with_matching_layout in sdp_utils.h: same sizes, same layout; else dense in the stride
// order of the query, broadcast dimensions (stride 0) outermost.
Tensor matching_layout(const Tensor& query, at::IntArrayRef sizes) {
  if (query.sizes() == sizes) return at::empty_like(query);
  const auto key = [&](int64_t dim) {
    const int64_t stride = query.stride(dim);
    return stride != 0 ? stride : std::numeric_limits<int64_t>::max();
  };
  std::vector<int64_t> inner_to_outer(sizes.size()), strides(sizes.size());
  std::iota(inner_to_outer.begin(), inner_to_outer.end(), 0);
  std::stable_sort(inner_to_outer.begin(), inner_to_outer.end(),
                   [&](int64_t a, int64_t b) { return key(a) < key(b); });
  int64_t stride = 1;
  for (const int64_t dim : inner_to_outer) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return at::empty_strided(sizes, strides, query.options());
}

Attention cudnn(const Tensor& query, const Tensor& key, const Tensor& value,
                const optional<Tensor>&, bool compute_log_sumexp, double, bool, bool,
                optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1), queries = query.size(2);
  return {matching_layout(query, {batch, heads, queries, value.size(3)}),
          compute_log_sumexp ? fresh({batch, heads, queries, 1}, query, at::kFloat) : Tensor(),
          Tensor(),
          Tensor(),
          queries,
          key.size(2),
          fresh({}, query, at::kLong),
          fresh({}, query, at::kLong),
          Tensor()};
}

Gradients cudnn_backward(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                         const Tensor&, const Tensor&, SymInt, SymInt, double, bool,
                         optional<double>) {
  return {at::empty_like(query), at::empty_like(key), at::empty_like(value)};
}

// A graph captured on the CPU may name its kernels. Queries keep their layout, statistics are
// [B, H, L] over memory [B, L, H], gradients are BSHD (FlashAttentionKernel.cpp).
std::tuple<Tensor, Tensor> flash_for_cpu(const Tensor& query, const Tensor&, const Tensor&, double,
                                         bool, const optional<Tensor>&, optional<double>) {
  return {at::empty_like(query),
          fresh({query.size(0), query.size(2), query.size(1)}, query, statistics_dtype(query))
              .transpose(1, 2)};
}

Gradients flash_for_cpu_backward(const Tensor&, const Tensor& query, const Tensor& key,
                                 const Tensor& value, const Tensor&, const Tensor&, double, bool,
                                 const optional<Tensor>&, optional<double>) {
  const auto gradient = [](const Tensor& of) {
    return fresh_bshd(of.size(0), of.size(1), of.size(2), of.size(3), of);
  };
  return {gradient(query), gradient(key), gradient(value)};
}

// Packed projection [B, T, 3·H·D] to three [B, H, T, D] slices of one buffer
// (transform_bias_rescale_qkv_cuda).
Gradients split_projection(const Tensor& qkv, const Tensor&, int64_t heads) {
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

void register_attention(torch::Library& library) {
  library.impl("_scaled_dot_product_flash_attention", &flash);
  library.impl("_scaled_dot_product_flash_attention_backward", &flash_backward);
  library.impl("_scaled_dot_product_efficient_attention", &efficient);
  library.impl("_scaled_dot_product_efficient_attention_backward", &efficient_backward);
  library.impl("_scaled_dot_product_cudnn_attention", &cudnn);
  library.impl("_scaled_dot_product_cudnn_attention_backward", &cudnn_backward);
  library.impl("_scaled_dot_product_flash_attention_for_cpu", &flash_for_cpu);
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", &flash_for_cpu_backward);
  library.impl("_transform_bias_rescale_qkv", &split_projection);
  library.impl("_native_multi_head_attention", &multi_head);
  library.impl("_masked_softmax", &masked_softmax);
  library.impl("_masked_softmax_backward", &masked_softmax_backward);
}

}  // namespace symprof::kernels
