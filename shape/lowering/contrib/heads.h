// Shared helpers of com.microsoft's attention operators: heads, caches and masks.
#pragma once

#include <ATen/ATen.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// [batch, sequence, heads x size] as [batch, heads, sequence, size]. Throws Error for other sizes.
at::Tensor to_heads(const OnnxCall& call, const at::Tensor& x, std::int64_t heads);

/// Splits a projection's last dimension into queries, keys and values: thirds, or by
/// "qkv_hidden_sizes". Throws Error if the width differs.
Tensors split_projection(const OnnxCall& call, const at::Tensor& projected);

/// [batch, heads, sequence, size] as [batch, sequence, heads x size].
at::Tensor from_heads(const at::Tensor& x);

/// Keys or values of this step and the previous steps.
struct Cached {
  at::Tensor visible;  ///< The positions attended to.
  at::Tensor present;  ///< The whole buffer, for the next step.
};

/// `fresh` [batch, heads, steps, size] appended to `past`, which may be undefined. With a `length`,
/// the past is a buffer with `length` filled positions; the new ones are written after them.
Cached extend(const OnnxCall& call, const at::Tensor& past, const at::Tensor& fresh,
              std::optional<std::int64_t> length);

/// The additive mask for the scores of `q` [batch, heads, queries, size] and `keys` keys: the
/// node's "mask_filter_value" where the operand `mask` hides a key, and the lowest number where
/// `causal` does. Undefined if nothing is hidden. The operand is optional and has one of the forms
/// of contrib_ops/cpu/bert/attention_common.h: lengths, ends and starts, or 1 for each visible key.
at::Tensor additive_mask(const OnnxCall& call, const at::Tensor& q, std::int64_t keys,
                         std::size_t mask, bool causal);

/// One attention: softmax(scale x Q x K' + added) x V.
struct Attention {
  at::Tensor q, k, v;   ///< [batch, heads, sequence, size]; k and v may have fewer heads.
  at::Tensor added;     ///< Broadcasts with [batch, heads, queries, keys]; may be undefined.
  bool causal = false;  ///< PyTorch's causal flag, which excludes another mask.
  std::optional<double> scale;  ///< Empty: 1 / sqrt(size).
};

/// Computes the attention in one call, so that the target device chooses its kernel.
at::Tensor attend(const Attention& attention);

/// scale x Q x K' + added, for nodes that output the scores or change them before softmax.
at::Tensor scores_of(const Attention& attention, double softcap = 0.0);

/// The node's "scale"; empty if it is omitted or zero, which means 1 / sqrt(size).
std::optional<double> attention_scale(const OnnxCall& call);

}  // namespace symprof::lowering
