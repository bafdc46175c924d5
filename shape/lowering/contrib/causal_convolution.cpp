// com.microsoft: convolutions that keep the positions before a row as their state.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/lowering/contrib/linear_attention.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace causal_rows {
namespace {

/// Where a row's activations are, and what its taps see.
struct Causal {
  std::int64_t dilation = 1, before = 0;  ///< Positions of the state.
};

Causal causal_of(const OnnxCall& call, const at::Tensor& weight) {
  const std::int64_t dilation = call.integer("dilation", 1);
  if (dilation < 1) call.fail(fmt::format("a dilation of {}", dilation));
  return {.dilation = dilation, .before = (weight.size(-1) - 1) * dilation};
}

at::Tensor activate(const OnnxCall& call, const at::Tensor& y) {
  const std::string activation = call.text("activation", "none");
  if (activation == "silu" || activation == "swish") return at::silu(y);
  if (activation != "none" && !activation.empty())
    call.fail("the activation '" + activation + "'", "Wanted: silu, swish or none.");
  return y;
}

/// `row` [batch, channels, …] has the state before its first position. Other spatial dimensions
/// keep their sizes.
at::Tensor convolved(const OnnxCall& call, const at::Tensor& row, const at::Tensor& weight,
                     std::size_t bias, const Causal& causal) {
  at::Tensor added = call.optional_input(bias);
  if (added.defined()) added = to_device_of(added, row);
  const std::int64_t spatial = row.dim() - 2;
  Integers stride(static_cast<std::size_t>(spatial), 1), dilation = stride, padding, output;
  for (std::int64_t i = 0; i < spatial; ++i)
    padding.push_back(i + 1 == spatial ? 0 : (weight.size(i + 2) - 1) / 2);
  dilation.back() = causal.dilation;
  output.assign(static_cast<std::size_t>(spatial), 0);
  return activate(call, at::convolution(row, weight, added, stride, padding, dilation,
                                        /*transposed=*/false, output, row.size(1)));
}

void check_ranks(const OnnxCall& call, const at::Tensor& x, const at::Tensor& weight) {
  const std::int64_t spatial = call.integer("ndim", 1);
  const bool is_last = call.is_set("channels_last");
  if (spatial >= 1 && spatial <= 3 && weight.dim() == spatial + 2 &&
      (is_last ? spatial == 1 && x.dim() >= 3 : x.dim() == spatial + 2))
    return;
  call.fail(fmt::format("an input of rank {}, a weight of rank {} and ndim {}", x.dim(),
                        weight.dim(), spatial),
            "Wanted: [batch, channels, …] and [channels, 1, …] with ndim sizes after them.");
}

/// [batch, length, channels …] as [batch, channels, length], and back with the sizes of `like`.
at::Tensor sequence_last(const at::Tensor& x) { return x.flatten(2).transpose(1, 2); }
at::Tensor sequence_first(const at::Tensor& y, const at::Tensor& like) {
  Integers sizes = like.sizes().vec();
  sizes[1] = y.size(2);
  return y.transpose(1, 2).reshape(sizes);
}

}  // namespace
}  // namespace causal_rows

Tensors causal_convolution(OnnxCall& call) {
  using namespace causal_rows;
  const at::Tensor& given = call.input(0);
  const at::Tensor weight = to_device_of(call.input(1), given);
  check_ranks(call, given, weight);
  const Causal causal = causal_of(call, weight);
  const bool is_last = call.is_set("channels_last");
  const std::int64_t window = call.integer("state_window", 0);
  const at::Tensor x = is_last ? sequence_last(given) : given;
  at::Tensor row = x;
  if (call.has(3)) {
    at::Tensor past = to_device_of(call.input(3), x);
    if (window > 0) past = at::select(past, 0, -1);
    row = at::cat({is_last ? sequence_last(past) : past, x}, -1);
  } else if (causal.before > 0) {
    row = at::constant_pad_nd(x, {causal.before, 0});
  }
  const at::Tensor y = convolved(call, row, weight, 2, causal);
  const auto state_at = [&](std::int64_t end) {
    const at::Tensor state = at::slice(row, -1, end, end + causal.before);
    return (is_last ? sequence_first(state, given) : state).clone(at::MemoryFormat::Contiguous);
  };
  std::vector<at::Tensor> states;
  const std::int64_t length = x.size(-1);
  for (std::int64_t t = std::max(length - std::max(window, std::int64_t{1}), std::int64_t{0});
       t < length; ++t)
    states.push_back(state_at(t + 1));
  if (states.empty()) states.push_back(state_at(0));
  return {is_last ? sequence_first(y, given) : y,
          window > 0 ? window_of_states(states, window) : states.back()};
}

Tensors packed_causal_convolution(OnnxCall& call) {
  using namespace causal_rows;
  const at::Tensor& x = call.input(0);
  const at::Tensor weight = to_device_of(call.input(1), x), past = to_device_of(call.input(4), x);
  if (call.integer("state_update_capacity", 0) > 0)
    call.fail("compact updates of the state (state_update_capacity) are not supported");
  if (x.dim() != 2 || weight.dim() != 3 || past.dim() != 3 || past.size(0) < 1 ||
      x.size(0) % past.size(0) != 0)
    call.fail(fmt::format("an input [{}] and a state [{}]", fmt::join(x.sizes(), ", "),
                          fmt::join(past.sizes(), ", ")),
              "Wanted: [tokens, channels], as many tokens in each of the state's rows.");
  const std::int64_t batch = past.size(0);
  const at::Tensor rows = x.reshape({batch, x.size(0) / batch, x.size(1)}).transpose(1, 2);
  const at::Tensor row = at::cat({past, rows}, 2);
  const at::Tensor y = convolved(call, row, weight, 3, causal_of(call, weight));
  return {y.transpose(1, 2).reshape(x.sizes()),
          at::slice(row, 2, rows.size(2)).clone(at::MemoryFormat::Contiguous)};
}

}  // namespace symprof::lowering
