#include "shape/lowering/contrib/quantized.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/saturate.h"

namespace symprof::lowering {

at::Tensor broadcastable(const at::Tensor& parameter) {
  return parameter.numel() == 1 ? parameter.reshape({}) : parameter;
}

at::Tensor centered(const OnnxCall& call, std::size_t value, std::size_t zero_point) {
  const at::Tensor x = call.input(value).to(at::kFloat);
  if (!call.has(zero_point)) return x;
  const at::Tensor zero = to_device_of(broadcastable(call.input(zero_point)), x);
  return at::sub(x, zero.to(at::kFloat));
}

at::Tensor dequantized(const OnnxCall& call, const QuantizedPlaces& places) {
  const at::Tensor x = centered(call, places.value, places.zero_point);
  const at::Tensor scale = to_device_of(broadcastable(call.input(places.scale)), x);
  return at::mul(x, scale.to(at::kFloat)).to(scale.scalar_type());
}

at::Tensor quantized(const OnnxCall& call, const at::Tensor& x, std::size_t scale,
                     std::size_t zero_point, at::ScalarType type) {
  at::Tensor y = at::round(at::div(x, to_device_of(broadcastable(call.input(scale)), x)));
  if (call.has(zero_point))
    y = at::add(y, to_device_of(broadcastable(call.input(zero_point)), x).to(at::kFloat));
  return to_saturated(y, type, Saturation::on);
}

namespace {

/// For operators whose inputs are X, its scale and zero point, then scale and zero point of Y.
template <at::Tensor (*function)(const OnnxCall&, const at::Tensor&)>
Tensors between(OnnxCall& call) {
  const at::Tensor y = function(call, dequantized(call, {0, 1, 2}));
  return {quantized(call, y, 3, 4, call.input(0).scalar_type())};
}

at::Tensor sigmoid(const OnnxCall&, const at::Tensor& x) { return at::sigmoid(x); }

at::Tensor leaky_relu(const OnnxCall& call, const at::Tensor& x) {
  return at::leaky_relu(x, call.real("alpha", 0.01));
}

at::Tensor mean(const OnnxCall& call, const at::Tensor& x) {
  const Integers axes = call.integers("axes").value_or(Integers{});
  return at::mean(x, axes, call.integer("keepdims", 1) != 0);
}

/// Before opset 13 all dimensions from the axis on are flattened.
at::Tensor softmax(const OnnxCall& call, const at::Tensor& x) {
  const bool flattens = call.integer("opset", 13) < 13;
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), x.dim());
  if (!flattens || axis == x.dim() - 1) return at::softmax(x, axis);
  return at::softmax(at::flatten(x, axis), axis).reshape(x.sizes());
}

/// Runs another operator's lowering on float operands in ONNX's layout.
at::Tensor run_as(const OnnxCall& call, std::string_view op, const at::Tensor& x) {
  const bool channels_last = call.is_set("channels_last");
  OnnxCall inner{call.node, call.graph, {channels_last ? x.movedim(-1, 1) : x}, call.device};
  const at::Tensor y = find_lowering(op)->run(inner).at(0);
  return channels_last ? y.movedim(1, -1) : y;
}

at::Tensor average_pool(const OnnxCall& call, const at::Tensor& x) {
  return run_as(call, "onnx::AveragePool", x);
}

at::Tensor global_average_pool(const OnnxCall& call, const at::Tensor& x) {
  return run_as(call, "onnx::GlobalAveragePool", x);
}

/// Inputs: A and B with their scales and zero points, then C's scale and zero point.
template <at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
Tensors binary(OnnxCall& call) {
  const at::Tensor a = dequantized(call, {0, 1, 2}), b = dequantized(call, {3, 4, 5});
  return {quantized(call, function(a, to_device_of(b, a)), 6, 7, call.input(0).scalar_type())};
}

at::Tensor sum(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor product(const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }

/// Inputs: Y's scale and zero point, then each tensor with its scale and zero point.
Tensors concat(OnnxCall& call) {
  if (call.inputs.size() < 5 || call.inputs.size() % 3 != 2)
    call.fail(fmt::format("{} inputs", call.inputs.size()),
              "Wanted: scale, zero point, and three for each tensor.");
  std::vector<at::Tensor> parts;
  for (std::size_t i = 2; i < call.inputs.size(); i += 3)
    parts.push_back(dequantized(call, {i, i + 1, i + 2}));
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), parts[0].dim());
  return {quantized(call, at::cat(parts, axis), 0, 1, call.input(2).scalar_type())};
}

Tensors where(OnnxCall& call) {
  const at::Tensor x = dequantized(call, {1, 2, 3}), y = dequantized(call, {4, 5, 6});
  const at::Tensor chosen = at::where(to_device_of(call.input(0), x), x, to_device_of(y, x));
  return {quantized(call, chosen, 7, 8, call.input(1).scalar_type())};
}

/// (A - zero point) x (B - zero point) as int32.
Tensors integer_product(OnnxCall& call) {
  const at::Tensor a = centered(call, 0, 1), b = centered(call, 2, 3);
  return {at::mul(a, to_device_of(b, a)).to(at::kInt)};
}

Tensors integer_sum(OnnxCall& call) {
  const Integers axes = call.integers("axes").value_or(Integers{});
  return {at::sum(call.input(0), axes, call.integer("keepdims", 1) != 0, at::kInt)};
}

/// An LSTM whose weights W and R, [directions, inputs, 4 x hidden], are of 8 bits; inputs 8 to 11
/// have a scale and a zero point of each, for a direction or for each of its columns.
Tensors dynamic_lstm(OnnxCall& call) {
  const auto weight = [&](std::size_t value, std::size_t scale) {
    const at::Tensor& device = call.input(0);
    const at::Tensor x = to_device_of(call.input(value), device).to(at::kFloat);
    const auto of_direction = [&](std::size_t input) {
      const at::Tensor given = to_device_of(call.input(input), device).to(at::kFloat);
      return given.reshape({x.size(0), 1, given.numel() / x.size(0)});
    };
    return at::mul(at::sub(x, of_direction(scale + 1)), of_direction(scale)).transpose(1, 2);
  };
  Tensors inputs = call.inputs;
  inputs.resize(8);
  inputs[1] = weight(1, 8).contiguous();
  inputs[2] = weight(2, 10).contiguous();
  OnnxCall inner{call.node, call.graph, std::move(inputs), call.device};
  return find_lowering("onnx::LSTM")->run(inner);
}

constexpr Lowering quantized_rows[] = {
    {"com.microsoft::DynamicQuantizeLSTM", dynamic_lstm},
    {"com.microsoft::MulInteger", integer_product},
    {"com.microsoft::QLinearAdd", binary<sum>},
    {"com.microsoft::QLinearAveragePool", between<average_pool>},
    {"com.microsoft::QLinearConcat", concat},
    {"com.microsoft::QLinearGlobalAveragePool", between<global_average_pool>},
    {"com.microsoft::QLinearLeakyRelu", between<leaky_relu>},
    {"com.microsoft::QLinearMul", binary<product>},
    {"com.microsoft::QLinearReduceMean", between<mean>},
    {"com.microsoft::QLinearSigmoid", between<sigmoid>},
    {"com.microsoft::QLinearSoftmax", between<softmax>},
    {"com.microsoft::QLinearWhere", where},
    {"com.microsoft::ReduceSumInteger", integer_sum},
};

}  // namespace

Lowerings microsoft_quantized_lowerings() { return quantized_rows; }

}  // namespace symprof::lowering
