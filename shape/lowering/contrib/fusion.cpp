// com.microsoft: normalization, softmax, activation and dropout fused with additions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

at::Tensor input_of(const OnnxCall& call, std::size_t index) {
  return to_device_of(call.input(index), call.input(0));
}

Tensors bias_add(OnnxCall& call) {
  return {at::add(at::add(call.input(0), input_of(call, 1)), input_of(call, 2))};
}

/// The first half of x + bias times the GELU of the second half.
Tensors bias_split_gelu(OnnxCall& call) {
  const auto halves = at::chunk(at::add(call.input(0), input_of(call, 1)), 2, -1);
  if (halves.size() != 2) call.fail("a last dimension that has no halves");
  return {at::mul(halves[0], at::gelu(halves[1]))};
}

/// All dimensions from the axis on are flattened.
Tensors bias_softmax(OnnxCall& call) {
  const at::Tensor sum = at::add(call.input(0), input_of(call, 1));
  const std::int64_t axis = checked_axis(call, call.integer("axis", 1), sum.dim());
  if (axis == sum.dim() - 1) return {at::softmax(sum, -1)};
  return {at::softmax(at::flatten(sum, axis), -1).reshape(sum.sizes())};
}

/// dropout(data + bias) + residual; dropout is active only if the node's training input is set.
Tensors bias_dropout(OnnxCall& call) {
  const at::Tensor sum = at::add(call.input(0), input_of(call, 1));
  const double ratio = call.has(3) ? call.real_of(3) : 0.5;
  const bool train = call.has(4) && call.integer_of(4) != 0;
  at::Tensor y, mask;
  if (train && call.wants_output(1))
    std::tie(y, mask) = at::native_dropout(sum, ratio, train);
  else
    y = at::dropout(sum, ratio, train);
  if (!mask.defined() && call.wants_output(1))
    mask = at::ones(sum.sizes(), at::device(sum.device()).dtype(at::kBool));
  return {call.has(2) ? at::add(y, input_of(call, 2)) : y, mask};
}

/// A mask of one bit for each element, in 32-bit words.
at::Tensor bit_mask(const at::Tensor& mask) {
  constexpr std::int64_t bits = 32;
  const std::int64_t words = (mask.numel() + bits - 1) / bits;
  const at::Tensor padded =
      at::constant_pad_nd(mask.reshape({-1}).to(at::kLong), {0, words * bits - mask.numel()});
  const at::Tensor weight = at::bitwise_left_shift(at::ones({bits}, padded.options()),
                                                   at::arange(bits, padded.options()));
  return at::sum(at::mul(padded.reshape({words, bits}), weight), at::IntArrayRef{1})
      .to(at::kUInt32);
}

Tensors with_bit_mask(Tensors results) {
  if (results.at(1).defined()) results[1] = bit_mask(results[1]);
  return results;
}

Tensors bit_mask_bias_dropout(OnnxCall& call) { return with_bit_mask(bias_dropout(call)); }

/// Inputs: the data, the ratio and whether it trains.
Tensors bit_mask_dropout(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const double ratio = call.has(1) ? call.real_of(1) : 0.5;
  if (!call.has(2) || call.integer_of(2) == 0 || !call.wants_output(1)) {
    at::Tensor all;
    if (call.wants_output(1))
      all = bit_mask(at::ones(x.sizes(), at::device(x.device()).dtype(at::kBool)));
    return {at::dropout(x, ratio, call.has(2) && call.integer_of(2) != 0), all};
  }
  const auto [y, mask] = at::native_dropout(x, ratio, true);
  return {y, bit_mask(mask)};
}

/// The gradient of softmax, from the output's gradient and the output (onnxruntime,
/// orttraining/orttraining/core/graph/training_op_defs.cc).
Tensors softmax_gradient(OnnxCall& call) {
  const at::Tensor gradient = call.input(0), result = input_of(call, 1);
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), result.dim());
  return {at::_softmax_backward_data(gradient, result, axis, result.scalar_type())};
}

/// Channels are the last dimension unless channels_last is 0; the activation is none or SiLU.
at::Tensor grouped(const OnnxCall& call, const at::Tensor& x) {
  const bool channels_last = call.integer("channels_last", 1) != 0;
  const at::Tensor first = channels_last ? x.movedim(-1, 1) : x;
  const std::int64_t groups = call.integer("groups", 0);
  if (x.dim() < 3 || groups < 1 || first.size(1) % groups != 0)
    call.fail(fmt::format("{} groups of [{}]", groups, fmt::join(x.sizes(), ", ")));
  const auto weight = [&](std::size_t index) { return input_of(call, index).to(x.scalar_type()); };
  at::Tensor y = at::group_norm(first, groups, weight(1), weight(2), call.real("epsilon", 1e-5));
  const std::int64_t activation = call.integer("activation", 0);
  if (activation != 0 && activation != 1)
    call.fail(fmt::format("activation {}", activation), "Wanted: 0 (none) or 1 (SiLU).");
  if (activation == 1) y = at::silu(y);
  return channels_last ? y.movedim(1, -1) : y;
}

Tensors group_norm(OnnxCall& call) { return {grouped(call, call.input(0))}; }

/// The group norm of x + skip + bias; the sum is the second output. A 2-dimensional skip is
/// broadcast over all positions of an image.
Tensors skip_group_norm(OnnxCall& call) {
  at::Tensor skip = input_of(call, 3);
  if (skip.dim() == 2) skip = skip.reshape({skip.size(0), 1, 1, skip.size(1)});
  at::Tensor sum = at::add(call.input(0), skip);
  if (call.has(4)) sum = at::add(sum, input_of(call, 4));
  return {grouped(call, sum), sum};
}

/// X + Y x gate.
Tensors gated_add(OnnxCall& call) {
  return {at::add(call.input(0), at::mul(input_of(call, 1), input_of(call, 2)))};
}

Tensors scaled_silu(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (call.has(1)) return {at::silu(at::mul(x, input_of(call, 1)))};
  const double alpha = call.real("alpha", 1.0);
  return {at::silu(alpha == 1.0 ? x : at::mul(x, alpha))};
}

/// RMS norm of groups whose size is the scale's, times the activated gate.
Tensors gated_rms_norm(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor scale = input_of(call, 1), gate = input_of(call, 2);
  const std::string activation = call.text("activation", "silu");
  const bool is_sigmoid = activation == "sigmoid";
  if (!is_sigmoid && activation != "silu" && activation != "swish")
    call.fail("the activation '" + activation + "'", "Wanted: silu, swish or sigmoid.");
  if (scale.dim() != 1 || scale.size(0) < 1 || x.size(-1) % scale.size(0) != 0)
    call.fail(fmt::format("a scale [{}] for [{}]", fmt::join(scale.sizes(), ", "),
                          fmt::join(x.sizes(), ", ")));
  const at::Tensor rows = x.reshape({-1, scale.size(0)});
  const at::Tensor normal =
      at::rms_norm(rows, {scale.size(0)}, scale, call.real("epsilon", 1e-5)).reshape(x.sizes());
  return {at::mul(normal, is_sigmoid ? at::sigmoid(gate) : at::silu(gate))};
}

constexpr Lowering fusion_rows[] = {
    {"com.microsoft::BiasAdd", bias_add},
    {"com.microsoft::BiasDropout", bias_dropout},
    {"com.microsoft::BiasSoftmax", bias_softmax},
    {"com.microsoft::BiasSplitGelu", bias_split_gelu},
    {"com.microsoft::BitmaskBiasDropout", bit_mask_bias_dropout},
    {"com.microsoft::BitmaskDropout", bit_mask_dropout},
    {"com.microsoft::GatedAdd", gated_add},
    {"com.microsoft::GatedRMSNorm", gated_rms_norm},
    {"com.microsoft::GroupNorm", group_norm},
    {"com.microsoft::ScaledSiLU", scaled_silu},
    {"com.microsoft::SkipGroupNorm", skip_group_norm},
    {"com.microsoft::SoftmaxGrad_13", softmax_gradient},
};

}  // namespace

Lowerings microsoft_fusion_lowerings() { return fusion_rows; }

}  // namespace symprof::lowering
