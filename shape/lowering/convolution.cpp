// Convolutions of one to three spatial dimensions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "meta/fake/known_values.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/windows.h"

namespace symprof::lowering {
namespace {

/// The node's bias. Empty for a bias of zeros made from the weight's shape: the exporter writes one
/// if PyTorch's call has none.
std::optional<at::Tensor> bias_in(OnnxCall& call) {
  std::optional<at::Tensor> bias = call.optional_input(2);
  const auto values = bias ? meta::known_values(*bias) : std::nullopt;
  if (values && !values->any().item<bool>()) return std::nullopt;
  return bias;
}

/// The input on the weight's device: a table computed by the exporter is a host tensor, which
/// autocast does not cast.
at::Tensor input_beside(const OnnxCall& call, const at::Tensor& weight) {
  const at::Tensor& x = call.input(0);
  return is_real(x) ? to_device_of(x, weight) : x;
}

/// x [N, C, D…], weight [M, C / group, K…], bias [M].
Tensors convolution(OnnxCall& call) {
  at::Tensor x = input_beside(call, call.input(1));
  const at::Tensor& weight = call.input(1);
  if (weight.dim() < 3) call.fail(fmt::format("a weight of rank {}; wanted 3 to 5", weight.dim()));
  const Integers kernel(weight.sizes().begin() + 2, weight.sizes().end());
  Window window = read_window(call, kernel, x.sizes());
  if (!window.is_symmetric()) x = pad_explicitly(x, window, 0);
  return {at::convolution(x, weight, bias_in(call), window.strides, window.begins, window.dilations,
                          /*transposed=*/false, Integers(kernel.size(), 0),
                          call.integer("group", 1))};
}

/// Pads of a transposed convolution for a given output shape (ONNX, ConvTranspose): total = stride
/// (input - 1) + output_padding + (kernel - 1) dilation + 1 - output. A negative total becomes
/// output padding.
void pad_for_output(const OnnxCall& call, const Integers& wanted, at::IntArrayRef sizes,
                    Integers& output_padding, Window& window) {
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    std::int64_t total = window.strides[i] * (sizes[i + 2] - 1) + output_padding[i] +
                         (window.kernel[i] - 1) * window.dilations[i] + 1 - wanted[i];
    output_padding[i] -= std::min<std::int64_t>(total, 0);
    total = std::max<std::int64_t>(total, 0);
    const std::int64_t half = total / 2;
    window.begins[i] = call.text("auto_pad", "NOTSET") == "SAME_UPPER" ? half : total - half;
    window.ends[i] = total - window.begins[i];
  }
}

/// x [N, C, D…], weight [C, M / group, K…]. For unequal pads the unpadded result is sliced.
Tensors transposed_convolution(OnnxCall& call) {
  const at::Tensor x = input_beside(call, call.input(1));
  const at::Tensor& weight = call.input(1);
  if (weight.dim() < 3) call.fail(fmt::format("a weight of rank {}; wanted 3 to 5", weight.dim()));
  const Integers kernel(weight.sizes().begin() + 2, weight.sizes().end());
  Window window = read_window(call, kernel, x.sizes());
  Integers output_padding = call.integers("output_padding").value_or(Integers(kernel.size(), 0));
  auto output_shape = call.integers("output_shape");
  if (!output_shape && call.text("auto_pad", "NOTSET").starts_with("SAME")) {
    output_shape.emplace();
    for (std::size_t i = 0; i < kernel.size(); ++i)
      output_shape->push_back(x.size(static_cast<std::int64_t>(i) + 2) * window.strides[i]);
  }
  if (output_padding.size() != kernel.size() ||
      (output_shape && output_shape->size() != kernel.size()))
    call.fail("output_padding or output_shape does not have one number per spatial dimension");
  if (output_shape) pad_for_output(call, *output_shape, x.sizes(), output_padding, window);
  const bool symmetric = window.is_symmetric();
  at::Tensor y =
      at::convolution(x, weight, bias_in(call), window.strides,
                      symmetric ? window.begins : Integers(kernel.size(), 0), window.dilations,
                      /*transposed=*/true, output_padding, call.integer("group", 1));
  for (std::size_t i = 0; i < kernel.size() && !symmetric; ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    y = at::slice(y, axis, window.begins[i], y.size(axis) - window.ends[i]);
  }
  return {y};
}

constexpr Lowering convolution_rows[] = {
    {"onnx::Conv", convolution},
    {"onnx::ConvTranspose", transposed_convolution},
};

}  // namespace

Lowerings convolution_lowerings() { return convolution_rows; }

}  // namespace symprof::lowering
