// Fused attention. Sources: aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp,
// attention_backward.cu.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "base/rounding.h"
#include "profile/cost/scratch/cudnn_plans.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"

namespace symprof::profile {
namespace {

/// Query [batch, heads, length, width], key [batch, key_heads, key_length, width].
struct Sizes {
  std::int64_t batch, heads, length, width, key_heads, key_length;

  /// Flash attention's kernels come for head sizes in steps of 32, above 128 in steps of 64.
  std::int64_t kernel_width() const { return round_up(width, width <= 128 ? 32 : 64); }
};

std::optional<Sizes> sizes_of(const TensorSpec* query, const TensorSpec* key) {
  if (query == nullptr || key == nullptr || query->sizes.size() != 4 || key->sizes.size() != 4)
    return std::nullopt;
  return Sizes{query->sizes[0], query->sizes[1], query->sizes[2],
               query->sizes[3], key->sizes[1],   key->sizes[2]};
}

/// Reads tensors of [batch, length, heads, width].
std::optional<Sizes> sizes_of_sequences(const TensorSpec* query, const TensorSpec* key) {
  std::optional<Sizes> s = sizes_of(query, key);
  if (!s) return s;
  std::swap(s->heads, s->length);
  std::swap(s->key_heads, s->key_length);
  return s;
}

std::int64_t bytes_of(std::initializer_list<std::int64_t> factors) {
  Count product = 1;
  for (const std::int64_t factor : factors) product *= factor;
  return product.value();
}

/// num_splits_heuristic: few query blocks would leave multiprocessors idle, so the keys are split
/// among them. Returns the smallest number of splits within 85 % of the best wave efficiency.
std::int64_t key_splits(const Sizes& s, const DeviceSpec& device) {
  const std::int64_t slots = std::int64_t{2} * device.multiprocessors;
  const std::int64_t rows = s.batch * s.heads * divide_up(s.length, 64);
  const std::int64_t key_block = s.width <= 64 ? 256 : s.width <= 128 ? 128 : 64;
  const std::int64_t key_blocks = divide_up(s.key_length, key_block);
  if (static_cast<double>(rows) >= 0.8 * static_cast<double>(slots)) return 1;
  const std::int64_t most = std::min({std::int64_t{128}, slots, key_blocks});
  const auto is_eligible = [&](std::int64_t splits) {
    return splits == 1 || divide_up(key_blocks, splits) != divide_up(key_blocks, splits - 1);
  };
  const auto efficiency = [&](std::int64_t splits) {
    const double waves = static_cast<double>(rows * splits) / static_cast<double>(slots);
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (is_eligible(splits)) best = std::max(best, efficiency(splits));
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (is_eligible(splits) && efficiency(splits) >= 0.85 * best) return splits;
  return 1;
}

/// With dropout the keys are not split. Recordings omit floating-point arguments, so dropout is
/// unknown here and small batches count as split: an overestimate of some MiB at worst.
Scratch flash_splits(const Sizes& s, const DeviceSpec& device) {
  const std::int64_t splits = key_splits(s, device);
  if (splits == 1) return {};
  const std::int64_t rows = bytes_of({splits, s.batch, s.heads, s.length, float_bytes});
  return {.blocks = {rows, bytes_of({rows, s.kernel_width()})}};
}

Scratch flash_forward(const Call& call, const DeviceSpec& device) {
  const auto s = sizes_of(call.input_at(0), call.input_at(1));
  return s ? flash_splits(*s, device) : Scratch{.is_incomplete = true};
}

/// True if [batch, heads, length, width] is stored as [batch, length, heads, width].
bool is_sequence_major(const TensorSpec& tensor) {
  const std::int64_t width = tensor.sizes[3], heads = tensor.sizes[1], length = tensor.sizes[2];
  const std::vector<std::int64_t> wanted = {length * heads * width, width, heads * width, 1};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (tensor.sizes[i] != 1 && tensor.strides[i] != wanted[i]) return false;
  return true;
}

/// Copies of the gradient and of the forward output where needed, and the kernel's accumulators.
Scratch flash_backward(const Sizes& s, const Call& call, bool (*is_as_wanted)(const TensorSpec&)) {
  Scratch result;
  for (const int position : {0, 4})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && tensor->sizes.size() == 4 && !is_as_wanted(*tensor))
      result.blocks.push_back(tensor->bytes());
  const std::int64_t rows = round_up(s.length, 128);
  result.blocks.push_back(bytes_of({s.batch, s.heads, rows, float_bytes}));
  result.blocks.push_back(bytes_of({s.batch, rows, s.heads, s.kernel_width(), float_bytes}));
  if (s.key_heads != s.heads)  // Grouped-query attention: gradients per query head, summed later.
    for (const int position : {2, 3})
      if (const TensorSpec* tensor = call.input_at(position))
        result.blocks.push_back(bytes_of({tensor->bytes(), s.heads / s.key_heads}));
  return result;
}

Scratch flash_backward(const Call& call, const DeviceSpec&) {
  const auto s = sizes_of(call.input_at(1), call.input_at(2));
  return s ? flash_backward(*s, call, is_sequence_major) : Scratch{.is_incomplete = true};
}

/// The operators below scaled_dot_product_attention have heads after the sequence dimension, and
/// may have packed variable-length sequences: (query, key, value, cum_seq_q, …)
Scratch flash_of_sequences(const Call& call, const DeviceSpec& device) {
  const auto s = sizes_of_sequences(call.input_at(0), call.input_at(1));
  if (!s || call.input_at(3) != nullptr) return {.is_incomplete = true};
  return flash_splits(*s, device);
}

/// (gradient, query, key, value, out, logsumexp, cum_seq_q, …)
Scratch flash_backward_of_sequences(const Call& call, const DeviceSpec&) {
  const auto s = sizes_of_sequences(call.input_at(1), call.input_at(2));
  if (!s || call.input_at(6) != nullptr) return {.is_incomplete = true};
  return flash_backward(*s, call, is_row_major);
}

/// Wide heads in half precision do not fit into registers and need an fp32 output accumulator
/// (kNeedsOutputAccumulatorBuffer in mem_eff_attention/kernel_forward.h; the kernels' widths are in
/// kernels/cutlassF.h). (query, key, value, …)
Scratch efficient_forward(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t widest_in_registers = 128;
  const TensorSpec *query = call.input_at(0), *value = call.input_at(2);
  if (query == nullptr || value == nullptr || query->sizes.size() != 4)
    return {.is_incomplete = true};
  const std::int64_t width = value->sizes.back();
  if (!is_half(query->dtype) || width <= widest_in_registers) return {};
  return {.blocks = {
              bytes_of({query->sizes[0], query->sizes[1], query->sizes[2], width, float_bytes})}};
}

/// The kernel of kernels/cutlassB.h that runs if the device has enough shared memory for the first
/// that fits the head size: queries and keys per block, and whether gradients stay in registers.
struct BackwardKernel {
  std::int64_t queries, keys;
  bool keeps_gradients;
};

BackwardKernel backward_kernel(std::int64_t width, bool is_half) {
  if (width <= 64) return {64, 64, is_half};
  if (width <= 128 && is_half) return {128, 128, true};
  return {128, 64, false};
}

/// The number of blocks that share the keys of a head (num_splits_key in attention_backward.cu),
/// when they need a gradient buffer.
std::int64_t backward_key_splits(const Sizes& s, const BackwardKernel& kernel) {
  constexpr std::int64_t enough_blocks = 256, most_blocks = 200;
  const std::int64_t heads = s.batch * s.heads;
  if (heads >= enough_blocks && s.key_length <= 2 * kernel.keys) return 1;
  return std::max<std::int64_t>(
      1, std::min(divide_up(s.key_length, kernel.keys), most_blocks / heads));
}

/// Bytes of the accumulators for gradients of queries, keys and values (workspace_size in
/// mem_eff_attention/kernel_backward.h). fp32 kernels accumulate in the outputs.
Count backward_workspace(const Sizes& s, std::int64_t value_width, bool is_half) {
  constexpr std::int64_t lock_bytes = 16;
  const BackwardKernel kernel = backward_kernel(std::max(s.width, value_width), is_half);
  const std::int64_t tile = lock_bytes + kernel.queries * kernel.keys * float_bytes;
  Count of_head =
      Count(divide_up(s.length, kernel.queries)) * divide_up(s.width, kernel.keys) * tile;
  if (is_half && !kernel.keeps_gradients)
    of_head += Count(backward_key_splits(s, kernel)) * kernel.keys * float_bytes *
               (round_up(s.width, kernel.queries) + round_up(value_width, kernel.queries));
  return of_head * s.batch * s.heads;
}

/// Adds the row sums of output · gradient, which fp32 computes before the kernel, and the kernel's
/// workspace.
void add_efficient_backward(Scratch& result, const Sizes& s, const TensorSpec& gradient,
                            std::int64_t value_width, const DeviceSpec& device) {
  constexpr std::int64_t wanted_shared_bytes = std::int64_t{160} * 1024;
  result.make_outputs();
  const std::int64_t row_sums =
      gradient.numel() / std::max<std::int64_t>(value_width, 1) * float_bytes;
  if (is_half(gradient.dtype)) {
    result.take(row_sums);
  } else {
    const std::size_t product = result.take(gradient.bytes());
    const std::size_t sums = result.take(row_sums);
    if (s.heads > 1 && s.length > 1) {
      result.take(row_sums);  // Transposed.
      result.give_back(sums);
    }
    result.give_back(product);
  }
  result.take(backward_workspace(s, value_width, is_half(gradient.dtype)));
  result.is_incomplete = device.shared_memory_per_block_optin_bytes < wanted_shared_bytes;
}

/// (gradient, query, key, value, …)
Scratch efficient_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *value = call.input_at(3);
  const auto s = sizes_of(call.input_at(1), call.input_at(2));
  if (!s || gradient == nullptr || value == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_sequence_major(*gradient)) result.take(gradient->bytes());
  add_efficient_backward(result, *s, *gradient, value->sizes.back(), device);
  return result;
}

/// (gradient, query, key, value, bias, out, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k,
/// …)
Scratch efficient_backward_of_sequences(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *value = call.input_at(3);
  auto s = sizes_of_sequences(call.input_at(1), call.input_at(2));
  if (!s || gradient == nullptr || value == nullptr) return {.is_incomplete = true};
  if (const TensorSpec* starts = call.input_at(6)) {
    s->batch = starts->numel() - 1;
    s->length = call.integer(8, 0, s->length);
    s->key_length = call.integer(9, 0, s->key_length);
  }
  Scratch result;
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  add_efficient_backward(result, *s, *gradient, value->sizes.back(), device);
  return result;
}

/// Tensors of [batch, heads, length, width].
std::optional<AttentionSizes> sizes_of_cudnn(const TensorSpec* query, const TensorSpec* key,
                                             const TensorSpec* value) {
  const auto s = sizes_of(query, key);
  if (!s || value == nullptr || value->sizes.size() != 4) return std::nullopt;
  return AttentionSizes{s->batch,     s->heads,      s->length,      s->width,
                        s->key_heads, s->key_length, value->sizes[3]};
}

/// The plan's workspace, taken after the outputs (native/cudnn/MHA.cpp).
Scratch with_plan(std::optional<std::int64_t> bytes) {
  Scratch result;
  result.make_outputs();
  if (bytes) result.take(*bytes);
  result.is_incomplete = !bytes;
  return result;
}

/// (query, key, value, …)
Scratch attention_by_cudnn(const Call& call, const DeviceSpec& device) {
  const auto s = sizes_of_cudnn(call.input_at(0), call.input_at(1), call.input_at(2));
  return s ? with_plan(attention_workspace_bytes(*s, device)) : Scratch{.is_incomplete = true};
}

/// (gradient, query, key, value, …)
Scratch attention_backward_by_cudnn(const Call& call, const DeviceSpec& device) {
  const TensorSpec* key = call.input_at(2);
  const auto s = sizes_of_cudnn(call.input_at(1), key, call.input_at(3));
  if (!s) return {.is_incomplete = true};
  return with_plan(attention_backward_workspace_bytes(*s, element_bytes(key->dtype), device));
}

constexpr ScratchRule attention_rows[] = {
    {"aten::_scaled_dot_product_flash_attention", flash_forward},
    {"aten::_scaled_dot_product_flash_attention_backward", flash_backward},
    {"aten::_flash_attention_forward", flash_of_sequences},
    {"aten::_flash_attention_backward", flash_backward_of_sequences},
    {"torch_attn::_varlen_attn", flash_of_sequences},
    {"torch_attn::_varlen_attn_backward", flash_backward_of_sequences},
    {"aten::_scaled_dot_product_efficient_attention", efficient_forward},
    {"aten::_efficient_attention_forward", efficient_forward},
    {"aten::_efficient_attention_backward", efficient_backward_of_sequences},
    {"aten::_scaled_dot_product_efficient_attention_backward", efficient_backward},
    {"aten::_scaled_dot_product_cudnn_attention", attention_by_cudnn},
    {"aten::_scaled_dot_product_cudnn_attention_backward", attention_backward_by_cudnn},
};

}  // namespace

ScratchRules attention_scratch() { return attention_rows; }

}  // namespace symprof::profile
