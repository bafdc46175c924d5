// What the attention operators of com.microsoft have in common: heads, caches and masks.
#pragma once

#include <ATen/ATen.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// [batch, sequence, heads x size] as [batch, heads, sequence, size]. Throws Error for other sizes.
at::Tensor to_heads(const OnnxCall& call, const at::Tensor& x, std::int64_t heads);

/// Queries, keys and values, side by side in the last dimension of a projection: thirds, or as
/// "qkv_hidden_sizes" says. Throws Error when that is another width.
Tensors split_projection(const OnnxCall& call, const at::Tensor& projected);

/// [batch, heads, sequence, size] as [batch, sequence, heads x size].
at::Tensor from_heads(const at::Tensor& x);

/// Keys or values of this step and of the steps before.
struct Cached {
  at::Tensor visible;  ///< What is attended to.
  at::Tensor present;  ///< What the next step is given: all of the buffer.
};

/// `fresh` [batch, heads, steps, size] behind `past`, which may be undefined. With a `length` the
/// past is a buffer whose first `length` positions are filled; the fresh ones are written behind
/// them.
Cached extend(const OnnxCall& call, const at::Tensor& past, const at::Tensor& fresh,
              std::optional<std::int64_t> length);

/// What is added to the scores of `q` [batch, heads, queries, size] and `keys` keys: the node's
/// "mask_filter_value" where the operand `mask` hides a key, and the lowest number where `causal`
/// does. Undefined when nothing is hidden. The operand, which may be left out, is in one of the
/// forms of contrib_ops/cpu/bert/attention_common.h: lengths, ends and starts, or 1 for each key
/// that is shown.
at::Tensor additive_mask(const OnnxCall& call, const at::Tensor& q, std::int64_t keys,
                         std::size_t mask, bool causal);

/// One attention: softmax(scale x Q x K' + added) x V.
struct Attention {
  at::Tensor q, k, v;   ///< [batch, heads, sequence, size]; k and v may have fewer heads.
  at::Tensor added;     ///< Broadcasts with [batch, heads, queries, keys]; may be undefined.
  bool causal = false;  ///< PyTorch's own causal mask, which excludes another.
  std::optional<double> scale;  ///< 1 / sqrt(size) without one.
};

/// The attention as one call, so that the target device chooses its kernel.
at::Tensor attend(const Attention& attention);

/// scale x Q x K' + added, for nodes that hand the scores out or that change them before softmax.
at::Tensor scores_of(const Attention& attention, double softcap = 0.0);

/// The node's "scale"; empty when it is left out or zero, which means 1 / sqrt(size).
std::optional<double> attention_scale(const OnnxCall& call);

}  // namespace symprof::lowering
