// Fused attention. The counts are sdpa_flop_count and sdpa_backward_flop_count of
// torch/utils/flop_counter.py: the matrix products only (the softmax between them is O(S·T) against
// O(S·T·E)), no discount for a causal mask, heads of the query when keys and values have fewer.
// PyTorch's counter does not cover the CPU kernels; the same formulas are used for them.
#include <vector>

#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// Query [B, H, S, E], key [B, H', T, E], value [B, H', T, F].
struct Attention {
  Count scores;       ///< B · H · S · T
  Count key_width;    ///< E
  Count value_width;  ///< F

  /// Q·Kᵀ and P·V.
  Count forward() const { return 2 * scores * (key_width + value_width); }
  /// Q·Kᵀ again, dP = dO·Vᵀ, dV = Pᵀ·dO, dQ = dS·K, dK = dSᵀ·Q.
  Count backward() const { return 2 * scores * (3 * key_width + 2 * value_width); }
};

/// Order of batch, heads and sequence in a 4-D argument.
enum class Layout { batch_heads_sequence, batch_sequence_heads };

std::optional<Attention> attention(const TensorSpec* query, const TensorSpec* key,
                                   const TensorSpec* value, Layout layout) {
  for (const TensorSpec* tensor : {query, key, value})
    if (!tensor || tensor->sizes.size() != 4) return std::nullopt;
  const int sequence = layout == Layout::batch_heads_sequence ? 2 : 1;
  const Count heads = query->sizes[3 - sequence];
  return Attention{
      .scores = heads * query->sizes[0] * query->sizes[sequence] * key->sizes[sequence],
      .key_width = query->sizes[3],
      .value_width = value->sizes[3]};
}

/// The integers of one argument.
std::vector<std::int64_t> integers_at(const Call& call, int position) {
  std::vector<std::int64_t> integers;
  for (const IntegerArgument& argument : call.record().integers)
    if (argument.position == position) integers.push_back(argument.value);
  return integers;
}

/// Query-key pairs of packed sequences (query [total, H, E]) whose offsets have known values:
/// arguments `offsets` and `offsets + 1`.
std::optional<Count> known_pairs(const Call& call, int offsets, std::int64_t sequences) {
  const std::vector<std::int64_t> queries = integers_at(call, offsets),
                                  keys = integers_at(call, offsets + 1);
  const auto count = static_cast<std::size_t>(sequences) + 1;
  if (queries.size() != count || keys.size() != count) return std::nullopt;
  Count pairs = 0;
  for (std::size_t i = 1; i < count; ++i)
    pairs += Count(queries[i] - queries[i - 1]) * (keys[i] - keys[i - 1]);
  return pairs;
}

/// Sizes of packed attention. If the offsets are unknown, each sequence counts with the maximum
/// length, as PyTorch does for fake tensors.
std::optional<Attention> packed(const Call& call, int first, int offsets, int longest) {
  const TensorSpec *query = call.input_at(first), *value = call.input_at(first + 2);
  const TensorSpec* starts = call.input_at(offsets);
  if (!query || !value || query->sizes.size() < 3 || starts->sizes.empty()) return std::nullopt;
  const std::int64_t sequences = starts->sizes[0] - 1;
  const Count longest_pairs =
      Count(sequences) * call.integer(longest, 0, 0) * call.integer(longest + 1, 0, 0);
  const Count heads = query->sizes[query->sizes.size() - 2];
  return Attention{.scores = heads * known_pairs(call, offsets, sequences).value_or(longest_pairs),
                   .key_width = query->sizes.back(),
                   .value_width = value->sizes.back()};
}

Estimate forward_cost(const Call& call, const std::optional<Attention>& products) {
  if (!products) return std::nullopt;
  return streaming(call, {.product = products->forward()});
}

Estimate backward_cost(const Call& call, const std::optional<Attention>& products) {
  if (!products) return std::nullopt;
  return streaming(call, {.product = products->backward()});
}

/// _scaled_dot_product_*(query, key, value, ...)
Estimate sdpa(const Call& call) {
  return forward_cost(call, attention(call.input_at(0), call.input_at(1), call.input_at(2),
                                      Layout::batch_heads_sequence));
}

/// _scaled_dot_product_*_backward(grad_out, query, key, value, ...)
Estimate sdpa_backward(const Call& call) {
  return backward_cost(call, attention(call.input_at(1), call.input_at(2), call.input_at(3),
                                       Layout::batch_heads_sequence));
}

/// The kernels below _scaled_dot_product_* take [B, S, H, E]. PyTorch's counter reads them as [B,
/// H, S, E]; this count uses the real layout. Argument positions: `first` of the query, `offsets`
/// of the packed sequences' offsets, `longest` of the two maximum lengths.
std::optional<Attention> kernel_products(const Call& call, int first, int offsets, int longest,
                                         Layout layout = Layout::batch_sequence_heads) {
  const TensorSpec *query = call.input_at(first), *value = call.input_at(first + 2);
  if (call.input_at(offsets) != nullptr) return packed(call, first, offsets, longest);
  return attention(query, call.input_at(first + 1), value, layout);
}

/// (query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, ...)
Estimate flash(const Call& call) { return forward_cost(call, kernel_products(call, 0, 3, 5)); }
/// (out, query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, ...)
Estimate flash_in_place(const Call& call) {
  return forward_cost(call, kernel_products(call, 1, 4, 6));
}
/// (query, key, value, bias, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, ...)
Estimate efficient(const Call& call) { return forward_cost(call, kernel_products(call, 0, 4, 6)); }
/// (grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, ...)
Estimate flash_backward(const Call& call) {
  return backward_cost(call, kernel_products(call, 1, 6, 8));
}
/// (grad_out, query, key, value, bias, out, cu_seqlens_q, cu_seqlens_k, max_q, max_k, ...)
Estimate efficient_backward(const Call& call) {
  return backward_cost(call, kernel_products(call, 1, 6, 8));
}

/// FlexAttention's compiled kernels compute only the score blocks that the block mask keeps;
/// argument `scores` has the number of their elements.
std::optional<Attention> of_kept_blocks(const Call& call, int first, int scores) {
  const TensorSpec *query = call.input_at(first), *value = call.input_at(first + 2);
  if (!query || !value || query->sizes.size() != 4 || value->sizes.size() != 4) return std::nullopt;
  return Attention{.scores = call.integer(scores, 0, 0),
                   .key_width = query->sizes[3],
                   .value_width = value->sizes[3]};
}

/// (query, key, value, mask, captured, scores, is_bound)
Estimate flex(const Call& call) { return forward_cost(call, of_kept_blocks(call, 0, 5)); }
/// (grad_out, query, key, value, out, logsumexp, grad_logsumexp, mask, captured, needs_gradient,
/// scores, is_bound)
Estimate flex_backward(const Call& call) {
  return backward_cost(call, of_kept_blocks(call, 1, 10));
}

/// (query, key, value, bias, cum_seq_q, cum_seq_k, max_q, max_k, ...), [B, H, S, E] or packed.
Estimate cudnn(const Call& call) {
  return forward_cost(call, kernel_products(call, 0, 4, 6, Layout::batch_heads_sequence));
}
/// (grad_out, query, key, value, out, logsumexp, philox_seed, philox_offset, bias, cum_seq_q,
/// cum_seq_k, max_q, max_k, ...)
Estimate cudnn_backward(const Call& call) {
  return backward_cost(call, kernel_products(call, 1, 9, 11, Layout::batch_heads_sequence));
}

constexpr Rule attention_rows[] = {
    {"aten::_scaled_dot_product_flash_attention", sdpa},
    {"aten::_scaled_dot_product_efficient_attention", sdpa},
    {"aten::_scaled_dot_product_cudnn_attention", sdpa},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", sdpa},
    {"aten::_scaled_dot_product_fused_attention_overrideable", sdpa},
    {"aten::_triton_scaled_dot_attention", sdpa},
    {"aten::_cudnn_attention_forward", cudnn},
    {"aten::_scaled_dot_product_flash_attention_backward", sdpa_backward},
    {"aten::_scaled_dot_product_efficient_attention_backward", sdpa_backward},
    {"aten::_scaled_dot_product_cudnn_attention_backward", sdpa_backward},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", sdpa_backward},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward", sdpa_backward},
    {"aten::_cudnn_attention_backward", cudnn_backward},
    {"aten::_flash_attention_forward", flash},
    {"aten::_flash_attention_forward_no_dropout_inplace", flash_in_place},
    {"aten::_flash_attention_backward", flash_backward},
    {"aten::_efficient_attention_forward", efficient},
    {"aten::_efficient_attention_backward", efficient_backward},
    {"symprof::flex_attention", flex},
    {"symprof::flex_attention_backward", flex_backward},
    // Custom operators as they appear in exported files: torch/nn/attention/varlen.py.
    {"torch_attn::_varlen_attn", flash},
    {"torch_attn::_varlen_attn_out", flash_in_place},
    {"torch_attn::_varlen_attn_backward", flash_backward},
    {"aten::_fused_sdp_choice", touches_nothing, Confidence::free},
    // A scale per query element, and a bias per element of query, key and value.
    {"aten::_transform_bias_rescale_qkv", per_output<4>},
};

}  // namespace

Rules attention_rules() { return attention_rows; }

}  // namespace symprof::profile
