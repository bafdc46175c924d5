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
#include "meta/kernels/signatures.h"

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

// Keeps the stride order of `tensor`, determined on its BSHD view as in the flash kernels.
Tensor like_bshd(const Tensor& tensor) {
  return at::empty_like(tensor.transpose(1, 2)).transpose(1, 2);
}

Tensor fresh_bshd(int64_t batch, int64_t heads, int64_t length, int64_t width, const Tensor& like) {
  return fresh({batch, length, heads, width}, like).transpose(1, 2);
}

// A single query row shared by groups of heads is computed as one query with group-size rows; the
// result is a contiguous [B, 1, H, D].
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

// A graph captured on the CPU may contain CPU kernels. Queries keep their layout, statistics are
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

// ---- Direct calls of the kernels: dense [B, L, H, D], or packed [tokens, H, D] with the
// sequences' ends. Layouts as above.

using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

Tensor flash_statistics(const Tensor& query, const optional<Tensor>& ends) {
  const int64_t heads = query.size(-2);
  return present(ends) ? fresh({heads, query.size(0)}, query, at::kFloat)
                       : fresh({query.size(0), heads, query.size(1)}, query, at::kFloat);
}

Five flash_direct(const Tensor& query, const Tensor&, const Tensor&, const optional<Tensor>& ends,
                  const optional<Tensor>&, SymInt max_queries, SymInt max_keys, double dropout_p,
                  bool, bool return_debug_mask, optional<double>, optional<SymInt>,
                  optional<SymInt>, const optional<Tensor>&,
                  const optional<Tensor>& SYMPROF_FLASH_ADDITIONS) {
  const int64_t batch = present(ends) ? ends->numel() - 1 : query.size(0);
  const bool debug = return_debug_mask && dropout_p > 0;
  const auto padded = [](const SymInt& length) { return round_up(length.expect_int(), 128); };
  return {at::empty_like(query), flash_statistics(query, ends), fresh({2}, query, at::kUInt64),
          fresh({}, query, at::kUInt64),
          debug ? fresh({batch, query.size(-2), padded(max_queries), padded(max_keys)}, query)
                : fresh({0}, query)};
}

Gradients flash_direct_backward(const Tensor&, const Tensor& query, const Tensor& key,
                                const Tensor& value, const Tensor&, const Tensor&, const Tensor&,
                                const Tensor&, SymInt, SymInt, double, bool, const Tensor&,
                                const Tensor&, optional<double>, optional<SymInt>,
                                optional<SymInt>) {
  return {at::empty_like(query), at::empty_like(key), at::empty_like(value)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt> efficient_direct(
    const Tensor& query, const Tensor& key, const Tensor& value, const optional<Tensor>&,
    const optional<Tensor>& ends, const optional<Tensor>&, optional<SymInt> max_queries,
    optional<SymInt> max_keys, double, int64_t, bool compute_log_sumexp, optional<double>,
    const optional<Tensor>&, optional<int64_t>) {
  const int64_t batch = query.size(0), length = query.size(1), heads = query.size(2);
  TORCH_CHECK(!present(ends) || max_queries.has_value(),
              "_efficient_attention_forward: found cu_seqlens_q without max_seqlen_q");
  const SymInt queries = present(ends) ? *max_queries : SymInt(length);
  const int64_t rows = compute_log_sumexp ? round_up(queries.expect_int(), 32) : 0;
  return {fresh({batch, length, heads, value.size(-1)}, query),
          fresh({present(ends) ? ends->numel() - 1 : batch, heads, rows}, query, at::kFloat),
          fresh({}, query, at::kLong),
          fresh({}, query, at::kLong),
          queries,
          max_keys.value_or(key.size(1))};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_direct_backward(
    const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
    const optional<Tensor>& bias, const Tensor&, const optional<Tensor>&, const optional<Tensor>&,
    SymInt, SymInt, const Tensor&, double, const Tensor&, const Tensor&, int64_t, bool bias_wanted,
    optional<double>, optional<int64_t>, optional<int64_t>, bool one_storage) {
  const Tensor bias_grad = present(bias) && bias_wanted ? bias_gradient(*bias) : Tensor();
  if (!one_storage) {
    return {contiguous_like(query), contiguous_like(key), contiguous_like(value), bias_grad};
  }
  auto sizes = query.sizes().vec();
  sizes.insert(sizes.end() - 2, 3);
  const auto parts = fresh(sizes, query).unbind(-3);
  return {parts[0], parts[1], parts[2], bias_grad};
}

Attention cudnn_direct(const Tensor& query, const Tensor& key, const Tensor& value,
                       const optional<Tensor>& bias, const optional<Tensor>& query_ends,
                       const optional<Tensor>& key_ends, SymInt max_queries, SymInt max_keys,
                       bool compute_log_sumexp, double dropout_p, bool is_causal, bool debug,
                       optional<double> scale SYMPROF_CUDNN_ADDITIONS) {
  if (!present(query_ends)) {
    return cudnn(query, key, value, bias, compute_log_sumexp, dropout_p, is_causal, debug, scale);
  }
  const int64_t tokens = query.size(0), heads = query.size(1);
  return {fresh({tokens, heads, value.size(-1)}, query),
          compute_log_sumexp ? fresh({tokens, heads, 1}, query, at::kFloat) : Tensor(),
          *query_ends,
          key_ends.value_or(Tensor()),
          max_queries,
          max_keys,
          fresh({}, query, at::kLong),
          fresh({}, query, at::kLong),
          Tensor()};
}

Gradients cudnn_direct_backward(const Tensor&, const Tensor& query, const Tensor& key,
                                const Tensor& value, const Tensor&, const Tensor&, const Tensor&,
                                const Tensor&, const Tensor&, const Tensor&, const Tensor&, SymInt,
                                SymInt, double, bool, optional<double>) {
  return {at::empty_like(query), at::empty_like(key), at::empty_like(value)};
}

}  // namespace

void register_attention(torch::Library& library) {
  library.impl("_scaled_dot_product_flash_attention", &flash);
  library.impl("_scaled_dot_product_flash_attention_backward", &flash_backward);
  library.impl("_scaled_dot_product_efficient_attention", &efficient);
  library.impl("_scaled_dot_product_efficient_attention_backward", &efficient_backward);
  library.impl("_scaled_dot_product_cudnn_attention", &cudnn);
  library.impl("_scaled_dot_product_cudnn_attention_backward", &cudnn_backward);
  library.impl("_flash_attention_forward", &flash_direct);
  library.impl("_flash_attention_backward", &flash_direct_backward);
  library.impl("_efficient_attention_forward", &efficient_direct);
  library.impl("_efficient_attention_backward", &efficient_direct_backward);
  library.impl("_cudnn_attention_forward", &cudnn_direct);
  library.impl("_cudnn_attention_backward", &cudnn_direct_backward);
  library.impl("_scaled_dot_product_flash_attention_for_cpu", &flash_for_cpu);
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", &flash_for_cpu_backward);
}

}  // namespace symprof::kernels
