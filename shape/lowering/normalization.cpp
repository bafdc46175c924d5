// Normalization layers.
#include <fmt/format.h>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// `momentum` weights the old running value in ONNX; PyTorch weights the new one with 1 - momentum.
/// In training the running statistics are updated in place, as in PyTorch, and returned.
Tensors batch_normalization(OnnxCall& call) {
  const at::Tensor mean = call.input(3), variance = call.input(4);
  const bool training = call.is_set("training_mode");
  // ONNX keeps the population variance, PyTorch n / (n - 1) times it: corrected for real tensors.
  const bool corrects = training && is_real(call.input(0)) && is_real(variance);
  const double momentum = call.real("momentum", 0.9);
  const at::Tensor kept = corrects ? at::mul(variance, momentum) : at::Tensor();
  const at::Tensor y =
      at::batch_norm(call.input(0), call.input(1), call.input(2), mean, variance, training,
                     1.0 - momentum, call.real("epsilon", 1e-5), /*cudnn_enabled=*/true);
  if (!corrects) return {y, mean, variance};
  const double n = static_cast<double>(y.numel()) / static_cast<double>(variance.numel());
  return {y, mean, at::add(kept, at::mul(at::sub(variance, kept), (n - 1) / n))};
}

/// Normalizes over batch and space by default: (x - mean) / (deviation + 1e-9), as ONNX defines it.
Tensors mean_variance_normalization(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers axes = call.integers("axes").value_or(Integers{0, 2, 3});
  const at::Tensor centered = at::sub(x, at::mean(x, axes, /*keepdim=*/true));
  const at::Tensor variance = at::mean(at::mul(centered, centered), axes, /*keepdim=*/true);
  return {at::div(centered, at::add(at::sqrt(variance), 1e-9))};
}

/// The sizes from `axis` on: PyTorch's normalized_shape.
Integers normalized_shape(const OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), x.dim());
  return {x.sizes().begin() + axis, x.sizes().end()};
}

/// False for a scale that only broadcasts to the normalized shape: PyTorch's layer norm takes no
/// such weight.
bool has_shape(const at::Tensor& tensor, const Integers& shape) {
  return !tensor.defined() || tensor.sizes() == at::IntArrayRef(shape);
}

Tensors layer_normalization(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers shape = normalized_shape(call);
  const at::Tensor scale = call.optional_input(1), bias = call.optional_input(2);
  const double epsilon = call.real("epsilon", 1e-5);
  if (!has_shape(scale, shape) || !has_shape(bias, shape)) {
    at::Tensor y = at::layer_norm(x, shape, {}, {}, epsilon);
    if (scale.defined()) y = at::mul(y, scale);
    return {bias.defined() ? at::add(y, bias) : y};
  }
  if (!call.wants_output(1) && !call.wants_output(2))
    return {at::layer_norm(x, shape, scale, bias, epsilon)};
  const auto [y, mean, deviation] = at::native_layer_norm(x, shape, scale, bias, epsilon);
  return {y, mean, deviation};
}

Tensors rms_normalization(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers shape = normalized_shape(call);
  const at::Tensor& scale = call.input(1);
  const double epsilon = call.real("epsilon", 1e-5);
  if (has_shape(scale, shape)) return {at::rms_norm(x, shape, scale, epsilon)};
  return {at::mul(at::rms_norm(x, shape, {}, epsilon), scale)};
}

/// Scale and bias have one element per group before opset 21, one per channel since.
Tensors group_normalization(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t groups = call.integer("num_groups", 0);
  const std::int64_t channels = x.dim() > 1 ? x.size(1) : 0;
  if (groups < 1 || channels % groups != 0)
    call.fail(fmt::format("{} groups of {} channels", groups, channels));
  at::Tensor scale = call.input(1), bias = call.input(2);
  if (call.opset() < 21 && scale.numel() == groups && groups != channels) {
    scale = scale.repeat_interleave(channels / groups);
    bias = bias.repeat_interleave(channels / groups);
  }
  return {at::group_norm(x, groups, scale, bias, call.real("epsilon", 1e-5))};
}

Tensors instance_normalization(OnnxCall& call) {
  return {at::instance_norm(call.input(0), call.input(1), call.input(2), {}, {},
                            /*use_input_stats=*/true, /*momentum=*/0.0, call.real("epsilon", 1e-5),
                            /*cudnn_enabled=*/true)};
}

/// x divided by its p-norm along the axis.
Tensors lp_normalization(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), x.dim());
  const at::Tensor norm = at::linalg_vector_norm(x, call.integer("p", 2), axis, /*keepdim=*/true);
  return {at::div(x, at::clamp_min(norm, 1e-12))};  // As nn.functional.normalize.
}

/// Over channels: nn.LocalResponseNorm's formula, with alpha already divided by the size.
Tensors local_response_normalization(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t size = call.integer("size", 1);
  if (x.dim() < 3 || size < 1) call.fail(fmt::format("size {} and rank {}", size, x.dim()));
  Integers flat{x.size(0), 1, x.size(1), -1};
  const at::Tensor squares =
      at::constant_pad_nd(at::mul(x, x).reshape(flat), {0, 0, size / 2, (size - 1) / 2});
  const at::Tensor mean = at::avg_pool2d(squares, {size, 1}, {1, 1}).reshape(x.sizes());
  const at::Tensor divisor =
      at::pow(at::add(at::mul(mean, call.real("alpha", 1e-4)), call.real("bias", 1.0)),
              call.real("beta", 0.75));
  return {at::div(x, divisor)};
}

/// com.microsoft: norm(input + skip + bias); the sum is the fourth output. Inputs: input, skip,
/// scale, then (layer norm only) the norm's bias, and the bias of the sum.
template <bool subtracts_mean>
Tensors skip_normalization(OnnxCall& call) {
  if (call.wants_output(1) || call.wants_output(2))
    call.fail("the outputs mean and inv_std_var are not supported");
  constexpr std::size_t bias = subtracts_mean ? 4 : 3;
  at::Tensor sum = at::add(call.input(0), call.input(1));
  if (call.has(bias)) sum = at::add(sum, call.input(bias));
  const Integers shape{sum.size(-1)};
  if (!subtracts_mean)
    return {at::rms_norm(sum, shape, call.input(2), call.real("epsilon", 1e-12)), {}, {}, sum};
  const at::Tensor shift = call.optional_input(3);
  return {
      at::layer_norm(sum, shape, call.input(2), shift, call.real("epsilon", 1e-12)), {}, {}, sum};
}

constexpr Lowering normalization_rows[] = {
    {"com.microsoft::SimplifiedLayerNormalization", rms_normalization},
    {"com.microsoft::SkipLayerNormalization", skip_normalization<true>},
    {"com.microsoft::SkipSimplifiedLayerNormalization", skip_normalization<false>},
    {"onnx::BatchNormalization", batch_normalization},
    {"onnx::GroupNormalization", group_normalization},
    {"onnx::InstanceNormalization", instance_normalization},
    {"onnx::LRN", local_response_normalization},
    {"onnx::LayerNormalization", layer_normalization},
    {"onnx::LpNormalization", lp_normalization},
    {"onnx::MeanVarianceNormalization", mean_variance_normalization},
    {"onnx::RMSNormalization", rms_normalization},
    {"onnx::SimplifiedLayerNormalization", rms_normalization},
};

}  // namespace

Lowerings normalization_lowerings() { return normalization_rows; }

}  // namespace symprof::lowering
