// Activations, softmax, dropout and losses.
#include <fmt/format.h>

#include <cmath>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

template <at::Tensor (*function)(const at::Tensor&)>
Tensors activation(OnnxCall& call) {
  return {function(call.input(0))};
}

Tensors gelu(OnnxCall& call) { return {at::gelu(call.input(0), call.text("approximate", "none"))}; }

Tensors leaky_relu(OnnxCall& call) {
  return {at::leaky_relu(call.input(0), call.real("alpha", 0.01))};
}

Tensors elu(OnnxCall& call) { return {at::elu(call.input(0), call.real("alpha", 1.0))}; }
Tensors celu(OnnxCall& call) { return {at::celu(call.input(0), call.real("alpha", 1.0))}; }

Tensors thresholded_relu(OnnxCall& call) {
  return {at::threshold(call.input(0), call.real("alpha", 1.0), 0)};
}

/// PyTorch's parameters equal ONNX's defaults to the digits that ONNX writes; other parameters need
/// scaling.
Tensors selu(OnnxCall& call) {
  constexpr double alpha = 1.6732632423543772, gamma = 1.0507009873554805;
  const double given_alpha = call.real("alpha", alpha), given_gamma = call.real("gamma", gamma);
  if (std::abs(given_alpha - alpha) < 1e-5 && std::abs(given_gamma - gamma) < 1e-5)
    return {at::selu(call.input(0))};
  return {at::elu(call.input(0), given_alpha, given_gamma)};
}

/// max(0, min(1, alpha x + beta)); PyTorch's hardsigmoid has alpha = 1/6, beta = 1/2.
Tensors hard_sigmoid(OnnxCall& call) {
  const double alpha = call.real("alpha", 0.2), beta = call.real("beta", 0.5);
  const at::Tensor& x = call.input(0);
  if (std::abs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5) return {at::hardsigmoid(x)};
  return {at::clamp(at::add(at::mul(x, alpha), beta), 0, 1)};
}

Tensors softplus(OnnxCall& call) { return {at::softplus(call.input(0))}; }

Tensors softsign(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  return {at::div(x, at::add(at::abs(x), 1))};
}

Tensors shrink(OnnxCall& call) {
  const double bias = call.real("bias", 0.0), lambda = call.real("lambd", 0.5);
  if (bias == 0.0) return {at::hardshrink(call.input(0), lambda)};
  if (bias == lambda) return {at::softshrink(call.input(0), lambda)};
  call.fail(fmt::format("bias {} and lambd {}", bias, lambda),
            "Wanted: a bias of 0 (hard) or equal to lambd (soft).");
}

/// x · sigmoid(alpha x); since opset 24.
Tensors swish(OnnxCall& call) {
  const double alpha = call.real("alpha", 1.0);
  const at::Tensor& x = call.input(0);
  if (alpha == 1.0) return {at::silu(x)};
  return {at::mul(x, at::sigmoid(at::mul(x, alpha)))};
}

/// Slopes [C], [1] or [C, 1, …, 1] map to PyTorch's weight; other shapes are computed in steps.
Tensors prelu(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor& slope = call.input(1);
  const std::int64_t channels = x.dim() > 1 ? x.size(1) : 1;
  const bool per_channel = slope.numel() == channels && slope.dim() == x.dim() - 1 &&
                           (slope.dim() == 0 || slope.size(0) == channels);
  const bool old_per_channel = call.opset() < 7 && slope.dim() == 1;
  if (slope.numel() == 1 || per_channel || old_per_channel)
    return {at::prelu(x, slope.reshape({-1}))};
  return {at::where(at::ge(x, 0), x, at::mul(x, slope))};
}

/// `function(x, axis)`. Before opset 13 the default axis is 1, and all dimensions from the axis on
/// are flattened.
template <at::Tensor (*function)(const at::Tensor&, std::int64_t)>
Tensors along_axis(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const bool flattens = call.opset() < 13;
  const std::int64_t axis = checked_axis(call, call.integer("axis", flattens ? 1 : -1), x.dim());
  if (!flattens || axis == x.dim() - 1) return {function(x, axis)};
  return {function(at::flatten(x, axis), axis).reshape(x.sizes())};
}

at::Tensor softmax(const at::Tensor& x, std::int64_t axis) { return at::softmax(x, axis); }
at::Tensor log_softmax(const at::Tensor& x, std::int64_t axis) { return at::log_softmax(x, axis); }

/// 1 at the first maximum along the axis, 0 elsewhere.
at::Tensor hardmax(const at::Tensor& x, std::int64_t axis) {
  const at::Tensor indices = at::argmax(x, axis, /*keepdim=*/true);
  return at::zeros_like(x).scatter(axis, indices, 1);
}

/// The ratio is an input (default 0.5), and so is the training mode (default false).
Tensors dropout(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  // Before opset 12 the ratio is an attribute, and before 7 the mode was "is_test".
  const bool train = call.opset() < 7 ? !call.is_set("is_test") && call.wants_output(1)
                                      : call.has(2) && call.integer_of(2) != 0;
  const double ratio = call.has(1) ? call.real_of(1) : call.real("ratio", 0.5);
  if (!call.wants_output(1)) return {at::dropout(x, ratio, train)};
  if (!train) return {x, at::ones(x.sizes(), at::device(x.device()).dtype(at::kBool))};
  auto [y, mask] = at::native_dropout(x, ratio, train);
  return {y, mask};
}

std::int64_t loss_reduction(const OnnxCall& call) {
  const std::string name = call.text("reduction", "mean");
  if (name == "none") return at::Reduction::None;
  if (name == "sum") return at::Reduction::Sum;
  if (name == "mean") return at::Reduction::Mean;
  call.fail("the reduction '" + name + "'", "Wanted: none, sum or mean.");
}

Tensors cross_entropy(OnnxCall& call) {
  const at::Tensor& scores = call.input(0);
  const std::int64_t ignored = call.integer("ignore_index", -100);
  const at::Tensor loss = at::cross_entropy_loss(scores, call.input(1), call.optional_input(2),
                                                 loss_reduction(call), ignored);
  if (!call.wants_output(1)) return {loss};
  return {loss, at::log_softmax(scores, 1)};
}

Tensors negative_log_likelihood(OnnxCall& call) {
  return {at::nll_loss_nd(call.input(0), call.input(1), call.optional_input(2),
                          loss_reduction(call), call.integer("ignore_index", -100))};
}

/// com.microsoft: GELU, exact or tanh, after an optional bias.
at::Tensor biased(const OnnxCall& call) {
  return call.has(1) ? at::add(call.input(0), to_device_of(call.input(1), call.input(0)))
                     : call.input(0);
}
Tensors bias_gelu(OnnxCall& call) { return {at::gelu(biased(call), "none")}; }
Tensors fast_gelu(OnnxCall& call) { return {at::gelu(biased(call), "tanh")}; }

Tensors quick_gelu(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  return {at::mul(x, at::sigmoid(at::mul(x, call.real("alpha", 1.702))))};
}

constexpr Lowering activation_rows[] = {
    {"com.microsoft::BiasGelu", bias_gelu},
    {"com.microsoft::FastGelu", fast_gelu},
    {"com.microsoft::Gelu", gelu},
    {"com.microsoft::QuickGelu", quick_gelu},
    {"onnx::Celu", celu},
    {"onnx::Dropout", dropout},
    {"onnx::Elu", elu},
    {"onnx::Gelu", gelu},
    {"onnx::HardSigmoid", hard_sigmoid},
    {"onnx::HardSwish", activation<at::hardswish>},
    {"onnx::Hardmax", along_axis<hardmax>},
    {"onnx::LeakyRelu", leaky_relu},
    {"onnx::LogSoftmax", along_axis<log_softmax>},
    {"onnx::Mish", activation<at::mish>},
    {"onnx::NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"onnx::PRelu", prelu},
    {"onnx::Relu", activation<at::relu>},
    {"onnx::Selu", selu},
    {"onnx::Shrink", shrink},
    {"onnx::Sigmoid", activation<at::sigmoid>},
    {"onnx::Softmax", along_axis<softmax>},
    {"onnx::SoftmaxCrossEntropyLoss", cross_entropy},
    {"onnx::Softplus", softplus},
    {"onnx::Softsign", softsign},
    {"onnx::Swish", swish},
    {"onnx::Tanh", activation<at::tanh>},
    {"onnx::ThresholdedRelu", thresholded_relu},
};

}  // namespace

Lowerings activation_lowerings() { return activation_rows; }

}  // namespace symprof::lowering
