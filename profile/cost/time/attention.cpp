// Fused attention: one kernel forward. The backward pass has three (row sums of output gradients,
// the gradients, the conversion of the query gradient), which the formula treats as one.
#include "base/rounding.h"
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// Argument positions, and the sequence dimension of a 4-D tensor.
struct AttentionArguments {
  int query = 0, causal = 0;
  std::size_t sequence = 2;
  TimeClass half = TimeClass::attention_flash;  ///< In 16 bit; fp32 has one kernel.
  bool backward = false;
};

LaunchEstimate attention_launches(const Call& call, const DeviceSpec& device,
                                  const AttentionArguments& at) {
  const TensorSpec *query = call.input_at(at.query), *key = call.input_at(at.query + 1);
  if (!query || !key || query->sizes.size() != 4 || key->sizes.size() != 4) return std::nullopt;
  const std::size_t heads = 3 - at.sequence;
  AttentionWork work;
  work.batch = query->sizes[0], work.heads = query->sizes[heads];
  work.kv_heads = key->sizes[heads];
  work.queries = query->sizes[at.sequence], work.keys = key->sizes[at.sequence];
  work.head_dim = query->sizes[3];
  work.number_bytes = element_bytes(query->dtype);
  work.causal = call.integer(at.causal, 0, 0) != 0, work.backward = at.backward;
  if (work.batch * work.heads * work.kv_heads * work.queries * work.keys * work.head_dim == 0)
    return Launches();
  const bool is_half = query->dtype == DType::bfloat16 || query->dtype == DType::float16;
  if (!is_half && query->dtype != DType::float32) return std::nullopt;
  const TimeClass fp32 =
      device.is_cpu && at.backward ? TimeClass::attention_backward : TimeClass::attention_fp32;
  const TimeClass time_class = is_half ? at.half : fp32;
  return Launches{{{time_class, work, at.backward ? 3 : 1}}};
}

/// True if the bias [..., heads, queries, keys] is broadcast over heads, like a mask.
bool is_shared_by_heads(const TensorSpec& bias) {
  const std::size_t rank = bias.sizes.size();
  if (rank < 3) return true;
  return bias.sizes[rank - 3] == 1 || (bias.strides.size() == rank && bias.strides[rank - 3] == 0);
}

/// The memory-efficient kernel adds a bias to each score, faster where all heads share it.
LaunchEstimate with_bias(LaunchEstimate launches, const TensorSpec* bias,
                         const DeviceSpec& device) {
  if (!launches || launches->kernels.empty() || bias == nullptr || device.is_cpu) return launches;
  const auto& work = std::get<AttentionWork>(launches->kernels[0].work);
  const std::int64_t scores = work.batch * work.heads * work.queries * work.keys;
  const std::string_view rate = is_shared_by_heads(*bias) ? "attention_bias.shared_per_clock"
                                                          : "attention_bias.scores_per_clock";
  launches->kernels.push_back(
      {TimeClass::elementwise, StreamWork{bytes_at_rate(device, scores, rate)}, 0});
  return launches;
}

/// (query, key, value, dropout_p, is_causal, ...)
LaunchEstimate sdpa_flash(const Call& call, const Cost&, const DeviceSpec& device) {
  return attention_launches(call, device, {.causal = 4});
}
/// (query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, ...)
LaunchEstimate sdpa_efficient(const Call& call, const Cost&, const DeviceSpec& device) {
  return with_bias(attention_launches(call, device, {.causal = 6}), call.input_at(3), device);
}
LaunchEstimate sdpa_cudnn(const Call& call, const Cost&, const DeviceSpec& device) {
  return attention_launches(call, device, {.causal = 6, .half = TimeClass::attention_newer});
}
/// (grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p,
/// is_causal, ...)
LaunchEstimate sdpa_flash_backward(const Call& call, const Cost&, const DeviceSpec& device) {
  return attention_launches(call, device, {.query = 1, .causal = 11, .backward = true});
}
/// (grad_out, query, key, value, attn_bias, out, logsumexp, philox_seed, philox_offset, dropout_p,
/// grad_input_mask, is_causal, ...)
LaunchEstimate sdpa_efficient_backward(const Call& call, const Cost&, const DeviceSpec& device) {
  return attention_launches(call, device, {.query = 1, .causal = 11, .backward = true});
}
/// (grad_out, query, key, value, out, logsumexp, philox_seed, philox_offset, attn_bias, cum_seq_q,
/// cum_seq_k, max_q, max_k, dropout_p, is_causal, ...)
LaunchEstimate sdpa_cudnn_backward(const Call& call, const Cost&, const DeviceSpec& device) {
  return attention_launches(
      call, device,
      {.query = 1, .causal = 14, .half = TimeClass::attention_newer, .backward = true});
}

/// (query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, ...), for unpacked
/// sequences.
LaunchEstimate flash_kernel(const Call& call, const Cost&, const DeviceSpec& device) {
  if (call.input_at(3) != nullptr) return std::nullopt;
  return attention_launches(call, device, {.causal = 8, .sequence = 1});
}
/// (grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p,
/// is_causal, ...)
LaunchEstimate flash_kernel_backward(const Call& call, const Cost&, const DeviceSpec& device) {
  if (call.input_at(6) != nullptr) return std::nullopt;
  return attention_launches(call, device,
                            {.query = 1, .causal = 11, .sequence = 1, .backward = true});
}

/// FlexAttention's compiled kernels, modeled as flash attention of the scores that the block mask
/// keeps.
LaunchEstimate of_kept_blocks(const Call& call, const DeviceSpec& device,
                              const AttentionArguments& at, int scores) {
  LaunchEstimate launches = attention_launches(call, device, at);
  if (!launches || launches->kernels.empty()) return launches;
  auto& work = std::get<AttentionWork>(launches->kernels[0].work);
  work.causal = false;
  work.keys = divide_up(call.integer(scores, 0, 0), work.batch * work.heads * work.queries);
  if (work.keys == 0) return Launches();
  return launches;
}

/// (query, key, value, mask, captured, scores, is_bound)
LaunchEstimate flex(const Call& call, const Cost&, const DeviceSpec& device) {
  return of_kept_blocks(call, device, {}, 5);
}
/// (grad_out, query, key, value, out, logsumexp, grad_logsumexp, mask, captured, needs_gradient,
/// scores, is_bound)
LaunchEstimate flex_backward(const Call& call, const Cost&, const DeviceSpec& device) {
  return of_kept_blocks(call, device, {.query = 1, .backward = true}, 10);
}

constexpr TimeRule attention_time_rows[] = {
    {"aten::_scaled_dot_product_flash_attention", sdpa_flash},
    {"aten::_scaled_dot_product_efficient_attention", sdpa_efficient},
    {"aten::_scaled_dot_product_cudnn_attention", sdpa_cudnn},
    {"aten::_scaled_dot_product_flash_attention_backward", sdpa_flash_backward},
    {"aten::_scaled_dot_product_efficient_attention_backward", sdpa_efficient_backward},
    {"aten::_scaled_dot_product_cudnn_attention_backward", sdpa_cudnn_backward},
    {"aten::_flash_attention_forward", flash_kernel},
    {"aten::_flash_attention_backward", flash_kernel_backward},
    {"symprof::flex_attention", flex},
    {"symprof::flex_attention_backward", flex_backward},
    {"aten::_fused_sdp_choice", launches_nothing},
    {"aten::_transform_bias_rescale_qkv", moves_bytes<TimeClass::elementwise>},
};

}  // namespace

TimeRules attention_times() { return {nullptr, attention_time_rows}; }

}  // namespace symprof::profile
