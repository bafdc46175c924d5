#include "shape/lowering/contrib/linear_attention.h"

#include <fmt/format.h>

#include <cmath>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace recurrent_state {
namespace {

// Inputs of LinearAttention.
constexpr std::size_t query = 0, key = 1, value = 2, past_state = 3, decay = 4, beta = 5;

/// Sizes of a LinearAttention, and which terms its rule has.
struct Recurrence {
  std::int64_t batch = 0, length = 0;
  std::int64_t query_heads = 0, heads = 0;  ///< `heads`: of values and of the state.
  std::int64_t key_size = 0, value_size = 0;
  bool decays = false, corrects = false;  ///< "gated" and "delta".
};

Recurrence read_recurrence(const OnnxCall& call) {
  const at::Tensor &q = call.input(query), &v = call.input(value);
  Recurrence r{.query_heads = call.integer("q_num_heads", 0),
               .heads = call.integer("kv_num_heads", 0)};
  if (q.dim() != 3 || v.dim() != 3 || r.query_heads < 1 || r.heads < 1 ||
      q.size(2) % r.query_heads != 0 || v.size(2) % r.heads != 0 ||
      std::max(r.heads, r.query_heads) % std::min(r.heads, r.query_heads) != 0)
    call.fail(fmt::format("a query of rank {} and a value of rank {} with {} and {} heads", q.dim(),
                          v.dim(), r.query_heads, r.heads),
              "Wanted: [batch, length, heads x size], and one number of heads a multiple of the "
              "other.");
  if (call.integer("state_window", 0) > 0) call.fail("a window of states is not supported");
  r.batch = q.size(0), r.length = q.size(1);
  r.key_size = q.size(2) / r.query_heads, r.value_size = v.size(2) / r.heads;
  const std::string rule = call.text("update_rule", "gated_delta");
  r.decays = rule == "gated" || rule == "gated_delta";
  r.corrects = rule == "delta" || rule == "gated_delta";
  return r;
}

/// [batch, length, n x size] as [batch, length, heads, size], where each of n heads serves several.
at::Tensor by_head(const at::Tensor& packed, std::int64_t heads, std::int64_t size) {
  const std::int64_t given = packed.size(2) / size;
  const at::Tensor x = packed.reshape({packed.size(0), packed.size(1), given, size});
  return given == heads ? x : x.repeat_interleave(heads / given, 2);
}

/// A factor of each token and head, ready to scale a row of keys or of values.
at::Tensor factor(const at::Tensor& packed, std::int64_t heads, std::int64_t size) {
  const bool for_each_key = packed.size(2) == heads * size;
  return packed.reshape({packed.size(0), packed.size(1), -1, for_each_key ? size : 1});
}

}  // namespace
}  // namespace recurrent_state

Tensors linear_attention(OnnxCall& call) {
  using namespace recurrent_state;
  const Recurrence r = read_recurrence(call);
  const at::Tensor& device = call.input(query);
  const auto given = [&](std::size_t input) { return to_device_of(call.input(input), device); };
  const std::int64_t readers = std::max(r.heads, r.query_heads) / r.heads;
  const double scale = call.real("scale", 0.0);
  const at::Tensor q =
      at::mul(by_head(given(query), readers * r.heads, r.key_size),
              scale == 0.0 ? 1.0 / std::sqrt(static_cast<double>(r.key_size)) : scale)
          .reshape({r.batch, r.length, r.heads, readers, r.key_size});
  const at::Tensor k = by_head(given(key), r.heads, r.key_size);
  const at::Tensor v = by_head(given(value), r.heads, r.value_size);
  at::Tensor kept, step;
  if (r.decays) kept = at::exp(factor(given(decay), r.heads, r.key_size)).unsqueeze(-1);
  if (r.corrects) step = factor(given(beta), r.heads, 1).unsqueeze(-1);
  at::Tensor state = call.has(past_state)
                         ? given(past_state)
                         : at::zeros({r.batch, r.heads, r.key_size, r.value_size}, v.options());
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < r.length; ++t) {
    const at::Tensor k_t = at::select(k, 1, t).unsqueeze(-2);
    at::Tensor v_t = at::select(v, 1, t).unsqueeze(-2);
    if (r.decays) state = at::mul(state, at::select(kept, 1, t));
    if (r.corrects) v_t = at::mul(at::sub(v_t, at::matmul(k_t, state)), at::select(step, 1, t));
    state = at::add(state, at::matmul(k_t.transpose(-1, -2), v_t));
    outputs.push_back(at::matmul(at::select(q, 1, t), state));
  }
  return {at::stack(outputs, 1).reshape({r.batch, r.length, -1}), state};
}

Tensors causal_convolution(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor weight = to_device_of(call.input(1), x);
  if (x.dim() != 3 || weight.dim() != 3)
    call.fail(fmt::format("an input of rank {} and a weight of rank {}", x.dim(), weight.dim()),
              "Wanted: [batch, channels, length] and [channels, 1, width].");
  if (call.integer("state_window", 0) > 0) call.fail("a window of states is not supported");
  const std::int64_t before = weight.size(2) - 1;
  const at::Tensor row = call.has(3) ? at::cat({to_device_of(call.input(3), x), x}, 2)
                                     : at::constant_pad_nd(x, {before, 0});
  at::Tensor bias = call.optional_input(2);
  if (bias.defined()) bias = to_device_of(bias, x);
  at::Tensor y = at::conv1d(row, weight, bias, 1, at::IntArrayRef{0}, 1, x.size(1));
  const std::string activation = call.text("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = at::silu(y);
  else if (activation != "none" && !activation.empty())
    call.fail("the activation '" + activation + "'", "Wanted: silu, swish or none.");
  return {y, at::slice(row, 2, x.size(2)).clone(at::MemoryFormat::Contiguous)};
}

}  // namespace symprof::lowering
