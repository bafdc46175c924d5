// Attention and rotary embedding (opset 23).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// [batch, sequence, heads · size] to [batch, heads, sequence, size]; 4-dimensional tensors are
/// unchanged.
at::Tensor split_heads(const OnnxCall& call, const at::Tensor& x, std::int64_t heads) {
  if (x.dim() == 4) return x;
  if (x.dim() != 3 || heads < 1 || x.size(2) % heads != 0)
    call.fail(fmt::format("[{}] with {} heads", fmt::join(x.sizes(), ", "), heads),
              "Wanted: [batch, heads, sequence, size], or [batch, sequence, heads x size] with the "
              "number of heads.");
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// The boolean mask of keys visible to each query, which broadcasts with [batch, heads, queries,
/// keys]; undefined if all are visible. With a cache, query i is at position offset + i (ONNX,
/// Attention).
at::Tensor visible_keys(const OnnxCall& call, const at::Tensor& q, std::int64_t keys) {
  const std::int64_t left = call.integer("left_window_size", -1);
  const std::int64_t right = call.integer("right_window_size", -1);
  const bool causal = call.is_set("is_causal");
  const auto options = at::device(q.device()).dtype(at::kLong);
  const at::Tensor key = at::arange(keys, options);
  at::Tensor lengths;
  if (call.has(6)) lengths = to_device_of(call.input(6), q).reshape({-1, 1, 1, 1});
  at::Tensor visible;
  const auto restrict_to = [&](const at::Tensor& allowed) {
    visible = visible.defined() ? at::logical_and(visible, allowed) : allowed;
  };
  if (causal || left >= 0 || right >= 0) {
    const std::int64_t past = call.has(4) ? call.input(4).size(2) : 0;
    at::Tensor position = at::add(at::arange(q.size(2), options), past).unsqueeze(1);
    if (lengths.defined() && !call.has(4))
      position = at::add(position, at::sub(lengths, q.size(2)));
    const at::Tensor distance = at::sub(position, key);
    if (causal) restrict_to(at::ge(distance, 0));
    if (left >= 0) restrict_to(at::le(distance, left));
    if (right >= 0) restrict_to(at::ge(distance, -right));
  }
  if (lengths.defined()) restrict_to(at::lt(key, lengths));
  return visible;
}

/// The node's mask, padded to all keys, combined with the visible keys; undefined if there is
/// neither.
at::Tensor whole_mask(const OnnxCall& call, const at::Tensor& q, std::int64_t keys) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  const at::Tensor visible = visible_keys(call, q, keys);
  if (!call.has(3)) return visible;
  at::Tensor mask = to_device_of(call.input(3), q);
  const bool is_boolean = mask.scalar_type() == at::kBool;
  if (mask.dim() < 2) mask = mask.unsqueeze(0);
  if (mask.size(-1) < keys)
    mask = at::constant_pad_nd(mask, {0, keys - mask.size(-1)},
                               is_boolean ? at::Scalar(false) : at::Scalar(never));
  if (!visible.defined()) return mask;
  if (is_boolean) return at::logical_and(mask, visible);
  return at::where(visible, mask, at::full({}, never, mask.options()));
}

struct Attended {
  at::Tensor y, scores;  ///< `scores`: the node's fourth output.
};

/// Computes in single steps what PyTorch's attention does not support: softmax(softcap(scale · Q ·
/// Kᵀ) + mask) · V, with one intermediate result as an output.
Attended attend_in_steps(const OnnxCall& call, const at::Tensor& q, at::Tensor k, at::Tensor v,
                         const at::Tensor& mask, double scale) {
  if (const std::int64_t groups = q.size(1) / std::max<std::int64_t>(k.size(1), 1); groups > 1) {
    k = k.repeat_interleave(groups, 1);
    v = v.repeat_interleave(groups, 1);
  }
  const double cap = call.real("softcap", 0.0);
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  at::Tensor scores = at::mul(at::matmul(q, k.transpose(-2, -1)), scale);
  Attended result{{}, scores};
  if (cap > 0) scores = at::mul(at::tanh(at::div(scores, cap)), cap);
  // Modes 0 and 1 output the scores after the cap, as ONNX's reference implementation does.
  result.scores = scores;
  if (mask.defined() && mask.scalar_type() == at::kBool)
    scores =
        at::masked_fill(scores, at::logical_not(mask), -std::numeric_limits<double>::infinity());
  else if (mask.defined())
    scores = at::add(scores, mask);
  if (mode == 2) result.scores = scores;
  const std::int64_t precision = call.integer("softmax_precision", 0);
  const auto type = precision == 0 ? scores.scalar_type() : dtype_of_attribute(call, precision);
  const at::Tensor weights =
      at::_safe_softmax(scores.to(scores.device(), type), -1).to(q.device(), q.scalar_type());
  if (mode == 3) result.scores = weights;
  result.y = at::matmul(weights, v);
  return result;
}

Tensors attention(OnnxCall& call) {
  const std::int64_t q_heads = call.integer("q_num_heads", 0);
  const std::int64_t kv_heads = call.integer("kv_num_heads", q_heads);
  const at::Tensor q = split_heads(call, call.input(0), q_heads);
  at::Tensor k = split_heads(call, call.input(1), kv_heads);
  at::Tensor v = split_heads(call, call.input(2), kv_heads);
  if (call.has(4)) k = at::cat({call.input(4), k}, 2);
  if (call.has(5)) v = at::cat({call.input(5), v}, 2);
  const double given = call.real("scale", 0.0);
  const auto scale = given == 0.0 ? std::nullopt : std::optional(given);
  const auto finish = [&](const at::Tensor& y) {
    return call.input(0).dim() == 3 ? merge_heads(y) : y;
  };
  if (call.wants_output(3) || call.real("softcap", 0.0) > 0) {
    const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(3))));
    const Attended result = attend_in_steps(call, q, k, v, whole_mask(call, q, k.size(2)), factor);
    return {finish(result.y), k, v, result.scores};
  }
  // PyTorch's causal mask starts at the first key and cannot be combined with another mask.
  const bool flag = call.is_set("is_causal") && !call.has(3) && !call.has(4) && !call.has(6) &&
                    call.integer("left_window_size", -1) < 0 &&
                    call.integer("right_window_size", -1) < 0;
  std::optional<at::Tensor> mask;
  if (!flag)
    if (at::Tensor all = whole_mask(call, q, k.size(2)); all.defined()) mask = all;
  // ONNX's operator has no dropout; the reader adds the attribute if the exporter dropped it.
  const at::Tensor y = at::scaled_dot_product_attention(q, k, v, mask, call.real("dropout_p", 0.0),
                                                        flag, scale, q.size(1) != k.size(1));
  return {finish(y), k, v};
}

/// Rotates halves (or, interleaved, even and odd elements) of the first `size` elements: x1 cos -
/// x2 sin and x2 cos + x1 sin. Caches are [positions, size / 2], or [batch, sequence, size / 2]
/// without position ids.
Tensors rotary_embedding(OnnxCall& call) {
  const at::Tensor x = split_heads(call, call.input(0), call.integer("num_heads", 0));
  const std::int64_t given = call.integer("rotary_embedding_dim", 0);
  const std::int64_t size = given == 0 ? x.size(3) : given;
  at::Tensor cosine = call.input(1), sine = call.input(2);
  if (call.has(3)) {
    const at::Tensor positions = to_device_of(call.input(3), cosine);
    cosine = at::embedding(cosine, positions), sine = at::embedding(sine, positions);
  }
  cosine = to_device_of(cosine, x).unsqueeze(1), sine = to_device_of(sine, x).unsqueeze(1);
  const at::Tensor rotated = at::slice(x, 3, 0, size);
  const bool interleaved = call.is_set("interleaved");
  const at::Tensor first =
      interleaved ? at::slice(rotated, 3, 0, size, 2) : at::slice(rotated, 3, 0, size / 2);
  const at::Tensor second =
      interleaved ? at::slice(rotated, 3, 1, size, 2) : at::slice(rotated, 3, size / 2, size);
  const at::Tensor real = at::sub(at::mul(first, cosine), at::mul(second, sine));
  const at::Tensor imaginary = at::add(at::mul(first, sine), at::mul(second, cosine));
  at::Tensor y =
      interleaved ? at::stack({real, imaginary}, -1).flatten(3) : at::cat({real, imaginary}, 3);
  if (size < x.size(3)) y = at::cat({y, at::slice(x, 3, size)}, 3);
  return {call.input(0).dim() == 3 ? merge_heads(y) : y};
}

constexpr Lowering attention_rows[] = {
    {"onnx::Attention", attention},
    {"onnx::RotaryEmbedding", rotary_embedding},
};

}  // namespace

Lowerings attention_lowerings() { return attention_rows; }

}  // namespace symprof::lowering
