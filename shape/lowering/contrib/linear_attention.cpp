#include "shape/lowering/contrib/linear_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace recurrent_state {
namespace {

/// Operands of a recurrence: [batch, length, heads, size], `decay` and `step` [batch, length,
/// heads, keys or 1]; undefined where the rule has no such term. The state is [batch, heads, keys,
/// values].
struct Recurrence {
  at::Tensor q, k, v, decay, step, state;
  double scale = 0.0;  ///< 0: 1 / sqrt(size of a key).
};

struct Terms {
  bool decays = false, corrects = false;
};

Terms terms_of(const OnnxCall& call) {
  const std::string rule = call.text("update_rule", "gated_delta");
  return {.decays = rule == "gated" || rule == "gated_delta",
          .corrects = rule == "delta" || rule == "gated_delta"};
}

/// Each head of `x` for several, if it has fewer than `heads`.
at::Tensor repeated(const at::Tensor& x, std::int64_t heads) {
  return x.size(2) == heads ? x : x.repeat_interleave(heads / x.size(2), 2);
}

/// Outputs of all tokens [batch, length, heads x readers, values], and the last `kept` states.
std::pair<at::Tensor, std::vector<at::Tensor>> run(const Recurrence& r, std::int64_t kept_states) {
  const std::int64_t batch = r.v.size(0), length = r.v.size(1), heads = r.v.size(2);
  const std::int64_t readers = std::max(r.q.size(2) / heads, std::int64_t{1});
  const auto keys = static_cast<double>(r.k.size(3));
  const at::Tensor q =
      at::mul(repeated(r.q, heads * readers), r.scale == 0.0 ? 1.0 / std::sqrt(keys) : r.scale)
          .reshape({batch, length, heads, readers, r.k.size(3)});
  const at::Tensor k = repeated(r.k, heads);
  at::Tensor kept, step;
  if (r.decay.defined()) kept = at::exp(r.decay).unsqueeze(-1);
  if (r.step.defined()) step = r.step.unsqueeze(-1);
  at::Tensor state = r.state;
  std::vector<at::Tensor> outputs, states;
  for (std::int64_t t = 0; t < length; ++t) {
    const at::Tensor k_t = at::select(k, 1, t).unsqueeze(-2);
    at::Tensor v_t = at::select(r.v, 1, t).unsqueeze(-2);
    if (kept.defined()) state = at::mul(state, at::select(kept, 1, t));
    if (step.defined()) v_t = at::mul(at::sub(v_t, at::matmul(k_t, state)), at::select(step, 1, t));
    state = at::add(state, at::matmul(k_t.transpose(-1, -2), v_t));
    if (t + kept_states >= length) states.push_back(state);
    outputs.push_back(at::matmul(at::select(q, 1, t), state));
  }
  return {at::stack(outputs, 1).flatten(2, 3), states};
}

/// The heads of a query and a value packed in the last dimension.
void check_heads(const OnnxCall& call, std::int64_t query_heads, std::int64_t heads) {
  const at::Tensor &q = call.input(0), &v = call.input(2);
  if (q.dim() == 3 && v.dim() == 3 && query_heads >= 1 && heads >= 1 && q.size(1) >= 1 &&
      q.size(2) % query_heads == 0 && v.size(2) % heads == 0 &&
      std::max(heads, query_heads) % std::min(heads, query_heads) == 0)
    return;
  call.fail(fmt::format("a query of rank {} and a value of rank {} with {} and {} heads", q.dim(),
                        v.dim(), query_heads, heads),
            "Wanted: [batch, length, heads x size], and one number of heads a multiple of the "
            "other.");
}

/// A factor of each token and head, for a row of the state or for each of its keys.
at::Tensor factor(const at::Tensor& packed, std::int64_t heads, std::int64_t size) {
  const bool for_each_key = packed.size(2) == heads * size;
  return packed.reshape({packed.size(0), packed.size(1), -1, for_each_key ? size : 1});
}

/// x / max(its norm over the last dimension, epsilon), as functional.normalize.
at::Tensor unit(const at::Tensor& x) {
  const at::Tensor norm = at::linalg_vector_norm(x, 2, at::IntArrayRef{-1}, /*keepdim=*/true);
  return at::div(x, at::clamp_min(norm, 1e-12));
}

at::Tensor qwen_decay(const OnnxCall& call, const at::Tensor& raw) {
  const at::Tensor rate = at::exp(to_device_of(call.input(7), raw));
  const at::Tensor moved = at::add(raw, to_device_of(call.input(8), raw));
  return at::neg(at::mul(rate, at::softplus(moved)));
}

/// Queries, keys, values [tokens, heads, size] or with a batch before, as [batch, length, heads,
/// size]. Rows that differ in length (cu_seqlens) are taken to have equal ones.
at::Tensor in_rows(const OnnxCall& call, const at::Tensor& x, std::int64_t batch,
                   std::int64_t rank) {
  if (x.dim() == rank + 1) return x;
  if (x.dim() != rank || batch < 1 || x.size(0) % batch != 0)
    call.fail(fmt::format("{} tokens of rank {} in {} rows", x.size(0), x.dim(), batch),
              "Wanted: [tokens, heads, size], as many tokens in each row.");
  Integers sizes(x.sizes().begin() + 1, x.sizes().end());
  sizes.insert(sizes.begin(), {batch, x.size(0) / batch});
  return x.reshape(sizes);
}

}  // namespace
}  // namespace recurrent_state

at::Tensor window_of_states(const std::vector<at::Tensor>& states, std::int64_t window) {
  std::vector<at::Tensor> last;
  const auto count = static_cast<std::int64_t>(states.size());
  for (std::int64_t i = count - window; i < count; ++i)
    last.push_back(i < 0 ? at::zeros_like(states.back()) : states[static_cast<std::size_t>(i)]);
  return at::stack(last, 0);
}

Tensors linear_attention(OnnxCall& call) {
  using namespace recurrent_state;
  const std::int64_t query_heads = call.integer("q_num_heads", 0);
  const std::int64_t heads = call.integer("kv_num_heads", 0);
  check_heads(call, query_heads, heads);
  const auto given = [&](std::size_t input) {
    return to_device_of(call.input(input), call.input(0));
  };
  const std::int64_t keys = call.input(0).size(2) / query_heads;
  const std::int64_t values = call.input(2).size(2) / heads;
  const auto by_head = [&](std::size_t input, std::int64_t size) {
    const at::Tensor packed = given(input);
    return packed.reshape({packed.size(0), packed.size(1), packed.size(2) / size, size});
  };
  const Terms terms = terms_of(call);
  const std::int64_t window = call.integer("state_window", 0);
  Recurrence r{.q = by_head(0, keys), .k = by_head(1, keys), .v = by_head(2, values)};
  if (terms.decays) r.decay = factor(given(4), heads, keys);
  if (terms.corrects) r.step = factor(given(5), heads, 1);
  r.scale = call.real("scale", 0.0);
  r.state = call.has(3) ? given(3) : at::zeros({r.v.size(0), heads, keys, values}, r.v.options());
  if (call.has(3) && window > 0) r.state = at::select(r.state, 0, -1);
  const auto [output, states] = run(r, std::max(window, std::int64_t{1}));
  return {output.flatten(2, 3), window > 0 ? window_of_states(states, window) : states.back()};
}

Tensors gated_delta_net(OnnxCall& call) {
  using namespace recurrent_state;
  constexpr std::size_t lengths = 3, decay = 4, beta = 5, initial = 6;
  if (call.integer("state_update_capacity", 0) > 0)
    call.fail("compact updates of the state (state_update_capacity) are not supported");
  const auto given = [&](std::size_t input) {
    return to_device_of(call.input(input), call.input(0));
  };
  const at::Tensor& query = call.input(0);
  const std::int64_t batch = query.dim() == 4    ? query.size(0)
                             : call.has(initial) ? call.input(initial).size(0)
                             : call.has(lengths) ? call.input(lengths).numel() - 1
                                                 : 0;
  const auto rows = [&](std::size_t input, std::int64_t rank) {
    return in_rows(call, given(input).to(at::kFloat), batch, rank);
  };
  const Terms terms = terms_of(call);
  Recurrence r{.q = rows(0, 3), .k = rows(1, 3), .v = rows(2, 3)};
  if (call.is_set("qk_l2_norm")) r.q = unit(r.q), r.k = unit(r.k);
  const std::int64_t rank = query.dim() == 4 ? 3 : 2;
  if (terms.decays) {
    at::Tensor raw = given(decay);
    const bool for_each_key = raw.dim() > rank;
    if (call.text("gate_activation", "none") == "qwen") raw = qwen_decay(call, raw);
    r.decay = in_rows(call, for_each_key ? raw : raw.unsqueeze(-1), batch, 3);
  }
  if (terms.corrects) r.step = in_rows(call, given(beta).unsqueeze(-1), batch, 3);
  if (r.step.defined() && call.text("beta_activation", "none") == "sigmoid")
    r.step = at::sigmoid(r.step);
  r.scale = call.real("scale", 0.0);
  r.state = call.has(initial)
                ? given(initial).transpose(-1, -2)
                : at::zeros({r.v.size(0), r.v.size(2), r.k.size(3), r.v.size(3)}, r.v.options());
  const auto [output, states] = run(r, 1);
  Integers sizes = call.input(2).sizes().vec();
  sizes[sizes.size() - 2] = output.size(2);
  return {output.reshape(sizes).to(query.scalar_type()),
          states.back().transpose(-1, -2).contiguous()};
}

Tensors linear_attention_gate(OnnxCall& call) {
  const at::Tensor& a = call.input(0);
  const at::Tensor moved = at::add(a.to(at::kFloat), to_device_of(call.input(1), a));
  const at::Tensor decay = at::mul(at::softplus(moved), to_device_of(call.input(2), a));
  at::Tensor beta;
  if (call.has(3)) beta = at::sigmoid(to_device_of(call.input(3), a));
  return {decay.to(a.scalar_type()), beta};
}

}  // namespace symprof::lowering
