// com.microsoft: convolutions with an activation, channels-last convolutions, and convolutions with
// pads as an input.
#include <fmt/format.h>

#include "shape/lowering/contrib/activation.h"
#include "shape/lowering/contrib/linear_attention.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

at::Tensor run(const OnnxCall& call, std::string_view op, Tensors inputs) {
  OnnxCall inner{call.node, call.graph, std::move(inputs), call.device};
  return find_lowering(op)->run(inner).at(0);
}

/// activation(convolution + Z), with operands in ONNX's layout.
at::Tensor fused(const OnnxCall& call, const at::Tensor& x, const at::Tensor& z) {
  const at::Tensor y = run(call, "onnx::Conv", {x, call.input(1), call.optional_input(2)});
  return activated(call, z.defined() ? at::add(y, z) : y);
}

Tensors fused_convolution(OnnxCall& call) {
  return {fused(call, call.input(0), call.optional_input(3))};
}

/// Views: PyTorch's channels-last tensors have these strides.
at::Tensor channels_first(const at::Tensor& x) { return x.defined() ? x.movedim(-1, 1) : x; }
at::Tensor channels_last(const at::Tensor& x) { return x.movedim(1, -1); }

/// X and Z are [batch, spatial …, channels]; weights stay [M, C / group, kernel …].
Tensors channels_last_convolution(OnnxCall& call) {
  const at::Tensor y =
      fused(call, channels_first(call.input(0)), channels_first(call.optional_input(3)));
  return {channels_last(y)};
}

/// PyTorch pools integers on the host only: they are pooled as float32, which represents them
/// exactly.
Tensors channels_last_max_pool(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor y = run(call, "onnx::MaxPool", {channels_first(x).to(at::kFloat)});
  return {channels_last(y.to(x.scalar_type()))};
}

/// Inputs: X, W, the pads (all begins, then all ends) and B.
Tensors transposed_convolution(OnnxCall& call) {
  at::Tensor y =
      run(call, "onnx::ConvTranspose", {call.input(0), call.input(1), call.optional_input(3)});
  if (!call.has(2)) return {y};
  const Integers pads = call.integers_of(2);
  const auto spatial = static_cast<std::size_t>(y.dim()) - 2;
  if (pads.size() != 2 * spatial)
    call.fail(fmt::format("{} pads for {} spatial dimensions", pads.size(), spatial));
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    y = at::slice(y, axis, pads[i], y.size(axis) - pads[i + spatial]);
  }
  return {y};
}

Tensors quantized_convolution(OnnxCall& call) {
  const bool is_last = call.is_set("channels_last");
  Tensors inputs = call.inputs;
  if (is_last) inputs.at(0) = channels_first(call.input(0));
  const at::Tensor y = run(call, "onnx::QLinearConv", inputs);
  return {is_last ? channels_last(y) : y};
}

constexpr Lowering convolution_rows[] = {
    {"com.microsoft::CausalConvWithState", causal_convolution},
    {"com.microsoft::ConvTransposeWithDynamicPads", transposed_convolution},
    {"com.microsoft::FusedConv", fused_convolution},
    {"com.microsoft::NhwcConv", channels_last_convolution},
    {"com.microsoft::NhwcFusedConv", channels_last_convolution},
    {"com.microsoft::NhwcMaxPool", channels_last_max_pool},
    {"com.microsoft::QLinearConv", quantized_convolution},
    {"com.microsoft::VarlenCausalConvWithState", packed_causal_convolution},
};

}  // namespace

Lowerings microsoft_convolution_lowerings() { return convolution_rows; }

}  // namespace symprof::lowering
