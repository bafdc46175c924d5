// com.microsoft: self-attention with its projection, and attention of projected tensors
// (onnxruntime, docs/ContribOperators.md and contrib_ops/cpu/bert).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/contrib/heads.h"
#include "shape/lowering/contrib/linear_attention.h"
#include "shape/lowering/contrib/quantized.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// The input positions of an operator's operands.
struct Places {
  std::size_t mask, added, past_key, past_value, past_length, bias;
};

constexpr std::size_t nowhere = 100;  ///< The operator has no such operand.

/// The number of filled positions of a shared cache; empty if the cache grows.
std::optional<std::int64_t> filled_length(const OnnxCall& call, std::size_t place) {
  if (!call.has(place)) return std::nullopt;
  return call.integer_of(place);
}

/// Attention with the node's masks. Nodes that output the scores are computed in steps.
struct Attended {
  at::Tensor y, scores;
};

Attended attend_masked(const OnnxCall& call, const at::Tensor& q, const at::Tensor& k,
                       const at::Tensor& v, const Places& place) {
  const bool causal = call.is_set("unidirectional");
  const bool plain = causal && !call.has(place.mask) && !call.has(place.added) &&
                     !call.wants_output(3) && q.size(2) == k.size(2);
  Attention attention{q, k, v, {}, plain, attention_scale(call)};
  if (!plain) attention.added = additive_mask(call, q, k.size(2), place.mask, causal);
  if (call.has(place.added)) {
    const at::Tensor given = to_device_of(call.input(place.added), q);
    attention.added = attention.added.defined() ? at::add(given, attention.added) : given;
  }
  if (!call.wants_output(3)) return {from_heads(attend(attention)), {}};
  const at::Tensor scores = scores_of(attention);
  return {from_heads(at::matmul(at::softmax(scores, -1), v)), scores};
}

/// Self-attention on queries, keys and values concatenated in the last dimension, as the projection
/// returns them.
Tensors self_attention(const OnnxCall& call, const at::Tensor& projected, const Places& place) {
  if (call.is_set("do_rotary"))
    call.fail("do_rotary is not supported", "Write RotaryEmbedding as a node of its own.");
  const std::int64_t heads = call.integer("num_heads", 0);
  const Tensors parts = split_projection(call, projected);
  at::Tensor past_key, past_value;
  if (call.has(place.past_key)) {
    past_key = at::select(call.input(place.past_key), 0, 0);
    past_value = at::select(call.input(place.past_key), 0, 1);
  }
  const auto length = filled_length(call, place.past_length);
  const at::Tensor q = to_heads(call, parts[0], heads);
  const Cached k = extend(call, past_key, to_heads(call, parts[1], heads), length);
  const Cached v = extend(call, past_value, to_heads(call, parts[2], heads), length);
  const at::Tensor y = attend_masked(call, q, k.visible, v.visible, place).y;
  if (!call.wants_output(1)) return {y};
  return {y, at::stack({k.present, v.present})};
}

/// Weights are [input, 3 x hidden], the transpose of nn.Linear's.
Tensors attention(OnnxCall& call) {
  const at::Tensor projected = at::linear(call.input(0), call.input(1).t(), call.optional_input(2));
  return self_attention(call, projected, {3, 5, 4, nowhere, 6, nowhere});
}

Tensors quantized_attention(OnnxCall& call) {
  const at::Tensor x = dequantized(call, {0, 3, 6});
  const at::Tensor weight = dequantized(call, {1, 4, 7});
  const at::Tensor projected = at::linear(x, weight.t(), call.input(2));
  return self_attention(call, projected, {5, nowhere, 8, nowhere, nowhere, nowhere});
}

struct Projected {
  at::Tensor q, k, v;
};

/// Queries, keys and values as [batch, sequence, hidden] (or cached keys and values, [batch, heads,
/// sequence, size]), unpacked from tensors that hold two or three of them.
Projected unpack(const OnnxCall& call, std::int64_t heads) {
  const at::Tensor& query = call.input(0);
  const auto part = [](const at::Tensor& packed, std::int64_t index) {
    return at::select(packed, 3, index).flatten(2);
  };
  if (call.has(1) && call.input(1).dim() == 5)  // [batch, sequence, heads, 2, size]
    return {query, part(call.input(1), 0), part(call.input(1), 1)};
  if (call.has(1)) return {query, call.input(1), call.input(2)};
  if (query.dim() == 5)  // [batch, sequence, heads, 3, size]
    return {part(query, 0), part(query, 1), part(query, 2)};
  if (query.dim() != 3 || heads < 1 || query.size(2) % 3 != 0)
    call.fail(fmt::format("no key, and a query [{}]", fmt::join(query.sizes(), ", ")),
              "Wanted: a key, or queries, keys and values in one tensor.");
  const auto parts = at::chunk(query, 3, 2);
  return {parts[0], parts[1], parts[2]};
}

Tensors multi_head_attention(OnnxCall& call, const Places& place) {
  const std::int64_t heads = call.integer("num_heads", 0);
  Projected x = unpack(call, heads);
  const at::Tensor bias = call.optional_input(place.bias);
  const auto head_of = [&](const at::Tensor& part, std::int64_t first) {
    if (part.dim() == 4) return part;
    if (!bias.defined()) return to_heads(call, part, heads);
    const at::Tensor own = at::slice(bias, 0, first, first + part.size(2));
    return to_heads(call, at::add(part, own), heads);
  };
  const std::int64_t hidden = x.q.size(-1);
  const at::Tensor q = head_of(x.q, 0);
  const auto length = filled_length(call, place.past_length);
  const Cached k = extend(call, call.optional_input(place.past_key), head_of(x.k, hidden), length);
  const Cached v =
      extend(call, call.optional_input(place.past_value), head_of(x.v, 2 * hidden), length);
  const Attended result = attend_masked(call, q, k.visible, v.visible, place);
  return {result.y, k.present, v.present, result.scores};
}

Tensors multi_head(OnnxCall& call) {
  if (call.has(9)) call.fail("beams (cache_indirection) are not supported");
  return multi_head_attention(call, {4, 5, 6, 7, 8, 3});
}

/// One query per sequence. A growing cache has no length operand.
Tensors decoder_masked(OnnxCall& call) {
  if (call.has(9)) call.fail("beams (cache_indirection) are not supported");
  const std::size_t length = call.is_set("past_present_share_buffer") ? 7 : nowhere;
  return multi_head_attention(call, {3, 4, 5, 6, length, 10});
}

/// One query per sequence, with its projection, over a cache [2, batch, heads, longest, size].
Tensors decoder_masked_self(OnnxCall& call) {
  if (call.has(8)) call.fail("beams (cache_indirection) are not supported");
  const at::Tensor projected = at::linear(call.input(0), call.input(1).t(), call.optional_input(2));
  const std::size_t length = call.is_set("past_present_share_buffer") ? 6 : nowhere;
  return self_attention(call, projected, {3, 5, 4, nowhere, length, nowhere});
}

constexpr Lowering attention_rows[] = {
    {"com.microsoft::Attention", attention},
    {"com.microsoft::DecoderMaskedMultiHeadAttention", decoder_masked},
    {"com.microsoft::DecoderMaskedSelfAttention", decoder_masked_self},
    {"com.microsoft::GatedDeltaNet", gated_delta_net},
    {"com.microsoft::LinearAttention", linear_attention},
    {"com.microsoft::LinearAttentionGate", linear_attention_gate},
    {"com.microsoft::MultiHeadAttention", multi_head},
    {"com.microsoft::QAttention", quantized_attention},
};

}  // namespace

Lowerings microsoft_attention_lowerings() { return attention_rows; }

}  // namespace symprof::lowering
