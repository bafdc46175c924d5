// com.microsoft: GroupQueryAttention, decoder attention with a cache (onnxruntime,
// docs/ContribOperators.md and contrib_ops/cpu/bert/gqa_attention_base.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "shape/lowering/contrib/heads.h"
#include "shape/lowering/contrib/rotary.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

// Inputs.
constexpr std::size_t past_key = 3, past_value = 4, lengths = 5, total_length = 6, cosines = 7,
                      sines = 8, position_ids = 9, attention_bias = 10, head_sink = 11,
                      key_scale = 12, value_scale = 13, q_norm = 14, k_norm = 15;

struct Heads {
  at::Tensor q, k, v;  ///< [batch, heads, sequence, size]
};

/// The positions of this step: `queries` new ones of `total` in the longest sequence.
struct Step {
  std::int64_t queries, total;
  /// Positions of each sequence before this step, [batch, 1]; undefined if all have total -
  /// queries.
  at::Tensor past;

  bool is_prompt() const { return queries == total; }
};

Heads split(const OnnxCall& call) {
  const std::int64_t q_heads = call.integer("num_heads", 0);
  const std::int64_t kv_heads = call.integer("kv_num_heads", 0);
  const at::Tensor& query = call.input(0);
  if (q_heads < 1 || kv_heads < 1 || q_heads > query.size(-1) || q_heads % kv_heads != 0)
    call.fail(fmt::format("{} heads of queries and {} of keys", q_heads, kv_heads));
  if (call.has(1))
    return {to_heads(call, query, q_heads), to_heads(call, call.input(1), kv_heads),
            to_heads(call, call.input(2), kv_heads)};
  const auto parts = at::split_with_sizes(to_heads(call, query, q_heads + 2 * kv_heads),
                                          {q_heads, kv_heads, kv_heads}, 1);
  return {parts[0], parts[1], parts[2]};
}

/// Unknown lengths are assumed equal: the cost is the longest sequence's.
Step step_of(const OnnxCall& call, const Heads& x) {
  const std::int64_t queries = x.q.size(2);
  const std::int64_t total = call.has(past_key) ? call.integer_of(total_length) : queries;
  Step step{queries, total, {}};
  if (total < queries)
    call.fail(fmt::format("total_sequence_length {} for {} queries", total, queries));
  if (!is_real(call.input(lengths)) || step.is_prompt()) return step;
  const Integers last = call.integers_of(lengths);
  if (std::all_of(last.begin(), last.end(), [&](std::int64_t n) { return n + 1 == total; }))
    return step;
  step.past = at::sub(call.input(lengths).reshape({-1, 1}), queries - 1);
  return step;
}

at::Tensor device_range(const at::Tensor& like, std::int64_t begin, std::int64_t end) {
  return at::arange(begin, end, at::device(like.device()).dtype(at::kLong));
}

/// Applies RMS norm per head, then rotation, to queries and keys.
void prepare(const OnnxCall& call, const Step& step, Heads& x) {
  const double epsilon = call.real("qk_norm_epsilon", 1e-6);
  const Integers size{x.q.size(3)};
  if (call.has(q_norm)) {
    x.q = at::rms_norm(x.q, size, to_device_of(call.input(q_norm), x.q), epsilon);
    x.k = at::rms_norm(x.k, size, to_device_of(call.input(k_norm), x.q), epsilon);
  }
  if (!call.is_set("do_rotary")) return;
  at::Tensor positions;
  if (call.has(position_ids))
    positions = to_device_of(call.input(position_ids), x.q);
  else if (step.past.defined())
    positions = at::add(to_device_of(step.past, x.q), device_range(x.q, 0, step.queries));
  else
    positions = device_range(x.q, step.total - step.queries, step.total).unsqueeze(0);
  const at::Tensor cosine = to_device_of(call.input(cosines), x.q);
  const at::Tensor sine = to_device_of(call.input(sines), x.q);
  const bool interleaved = call.is_set("rotary_interleaved");
  x.q = rotate(x.q, cosine, sine, positions, interleaved);
  x.k = rotate(x.k, cosine, sine, positions, interleaved);
}

/// The cache with the new keys or values appended to each sequence's past. A cache longer than
/// needed keeps its length; unfilled positions are zero.
Cached append(const OnnxCall& call, const Step& step, const at::Tensor& past,
              const at::Tensor& fresh) {
  if (!past.defined()) return {fresh, fresh};
  const std::int64_t before = past.size(2), filled = step.total - step.queries;
  if (!step.past.defined())
    return extend(call, past, fresh, filled == before ? std::nullopt : std::optional(filled));
  const std::int64_t longest = std::max(before, step.total);
  const at::Tensor position = device_range(fresh, 0, longest);
  const at::Tensor own = to_device_of(step.past, fresh);
  const at::Tensor behind = at::sub(position, own);
  at::Tensor index =
      at::where(at::lt(behind, 0), position.expand_as(behind), at::add(behind, before));
  index = at::clamp_max(index, before + step.queries - 1);
  const at::Tensor row = index.reshape({fresh.size(0), 1, longest, 1})
                             .expand({fresh.size(0), fresh.size(1), longest, fresh.size(3)});
  const at::Tensor empty = at::ge(behind, step.queries).reshape({fresh.size(0), 1, longest, 1});
  const at::Tensor present = at::gather(at::cat({past, fresh}, 2), 2, row).masked_fill(empty, 0);
  return {at::slice(present, 2, 0, step.total), present};
}

/// Mask of the keys visible to each query; undefined if PyTorch's causal flag covers it, or if all
/// are visible.
at::Tensor visible_keys(const OnnxCall& call, const Step& step, const at::Tensor& q) {
  const std::int64_t window = call.integer("local_window_size", -1);
  const bool causal = call.integer("causal", 1) != 0;
  const at::Tensor key = device_range(q, 0, step.total);
  const at::Tensor past = step.past.defined() ? to_device_of(step.past, q) : at::Tensor();
  at::Tensor position = device_range(q, step.total - step.queries, step.total);
  if (past.defined()) position = at::add(past, device_range(q, 0, step.queries)).unsqueeze(1);
  const at::Tensor distance = at::sub(position.unsqueeze(-1), key);
  at::Tensor visible;
  if (causal && (past.defined() || step.queries > 1)) visible = at::ge(distance, 0);
  if (causal && window >= 0 && window < step.total) {
    const at::Tensor near = at::lt(distance, window);
    visible = visible.defined() ? at::logical_and(visible, near) : near;
  }
  return visible;
}

at::Tensor to_added(const at::Tensor& visible, const at::Tensor& q) {
  return at::zeros(visible.sizes(), q.options())
      .masked_fill(at::logical_not(visible), -std::numeric_limits<double>::infinity());
}

/// softmax with an extra element in its sum: a number per head, or zero.
at::Tensor softmax_with_sink(const at::Tensor& scores, const at::Tensor& sink) {
  const std::int64_t keys = scores.size(3);
  const at::Tensor column =
      sink.reshape({1, -1, 1, 1}).expand({scores.size(0), scores.size(1), scores.size(2), 1});
  return at::slice(at::softmax(at::cat({scores, column}, 3), -1), 3, 0, keys);
}

Attention attention_of(const OnnxCall& call, const Step& step, const Heads& x) {
  Attention attention{x.q, x.k, x.v, {}, false, attention_scale(call)};
  const std::int64_t window = call.integer("local_window_size", -1);
  const bool all_in_window = window < 0 || window >= step.total;
  if (call.integer("causal", 1) != 0 && step.is_prompt() && all_in_window &&
      !call.has(attention_bias)) {
    attention.causal = true;
    return attention;
  }
  if (const at::Tensor visible = visible_keys(call, step, x.q); visible.defined())
    attention.added = to_added(visible, x.q);
  if (!call.has(attention_bias)) return attention;
  const at::Tensor bias = to_device_of(call.input(attention_bias), x.q);
  attention.added = attention.added.defined() ? at::add(bias, attention.added) : bias;
  return attention;
}

/// Computes in single steps what PyTorch's attention does not support: a cap, a sink, scores as an
/// output.
Tensors in_steps(const OnnxCall& call, Attention attention, const Step& step) {
  if (attention.causal && step.queries > 1)
    attention.added = to_added(visible_keys(call, step, attention.q), attention.q);
  const at::Tensor scores = scores_of(attention, call.real("softcap", 0.0));
  at::Tensor weights;
  if (call.has(head_sink))
    weights = softmax_with_sink(scores, to_device_of(call.input(head_sink), scores));
  else if (call.integer("smooth_softmax", -1) > 0)
    weights = softmax_with_sink(scores, at::zeros({scores.size(1)}, scores.options()));
  else
    weights = at::softmax(scores, -1);
  const std::int64_t groups = attention.q.size(1) / attention.v.size(1);
  const at::Tensor v = groups > 1 ? attention.v.repeat_interleave(groups, 1) : attention.v;
  return {at::matmul(weights, v), call.integer("qk_output", 0) == 2 ? weights : scores};
}

Tensors group_query_attention(OnnxCall& call) {
  if (call.has(key_scale) || call.has(value_scale))
    call.fail("a quantized cache (k_scale, v_scale) is not supported");
  if (call.is_set("sliding_window_cache"))
    call.fail("a cache of a window's size (sliding_window_cache) is not supported");
  Heads x = split(call);
  const Step step = step_of(call, x);
  prepare(call, step, x);
  const Cached k = append(call, step, call.optional_input(past_key), x.k);
  const Cached v = append(call, step, call.optional_input(past_value), x.v);
  const Attention attention = attention_of(call, step, {x.q, k.visible, v.visible});
  const bool needs_steps = call.real("softcap", 0.0) > 0 || call.has(head_sink) ||
                           call.integer("smooth_softmax", -1) > 0 || call.wants_output(3);
  if (!needs_steps) return {from_heads(attend(attention)), k.present, v.present};
  const Tensors results = in_steps(call, attention, step);
  return {from_heads(results[0]), k.present, v.present, results[1]};
}

constexpr Lowering grouped_rows[] = {
    {"com.microsoft::GroupQueryAttention", group_query_attention},
};

}  // namespace

Lowerings microsoft_grouped_lowerings() { return grouped_rows; }

}  // namespace symprof::lowering
