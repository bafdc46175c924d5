// Convolutions. For each image, every weight element is multiplied at every position of the output
// (of the input, when transposed): 2 · batch · positions · weight elements. This is conv_flop_count
// of torch/utils/flop_counter.py; both omit the bias.
//
// input [N, C_in, ...], weight [C_out, C_in / groups, ...], transposed [C_in, C_out / groups, ...].
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// `positions`: the tensor over whose spatial dimensions the filter slides.
std::optional<Count> products(const TensorSpec* positions, const TensorSpec* weight) {
  if (!positions || !weight || weight->sizes.size() < 2) return std::nullopt;
  // An unbatched input has one dimension fewer than the weight.
  const std::size_t spatial = weight->sizes.size() - 2;
  if (positions->sizes.size() < spatial + 1) return std::nullopt;
  Count count = 2 * elements(*weight);
  if (positions->sizes.size() == spatial + 2) count *= positions->sizes[0];
  for (std::size_t i = positions->sizes.size() - spatial; i < positions->sizes.size(); ++i)
    count *= positions->sizes[i];
  return count;
}

Estimate forward(const Call& call, const TensorSpec* positions) {
  const std::optional<Count> product = products(positions, call.input_at(1));
  if (!product) return std::nullopt;
  return streaming(call, {.product = *product});
}

/// (input, weight, bias, stride, padding, dilation, transposed, ...)
Estimate convolution(const Call& call) {
  return forward(call, call.integer(6, 0, 0) ? call.input_at(0) : call.output(0));
}

Estimate plain(const Call& call) { return forward(call, call.output(0)); }
Estimate transposed(const Call& call) { return forward(call, call.input_at(0)); }

/// (grad_output, input, weight, ...). The gradients of input and weight take as many products as
/// the forward. PyTorch's formula uses C_in channels for the weight gradient instead of C_in /
/// groups; this count respects groups.
Estimate backward(const Call& call, int transposed_at, int output_mask_at) {
  const bool transposed = call.integer(transposed_at, 0, 0) != 0;
  const TensorSpec* positions = transposed ? call.input_at(1) : call.input_at(0);
  const std::optional<Count> product = products(positions, call.input_at(2));
  if (!product) return std::nullopt;
  const std::int64_t gradients =
      call.integer(output_mask_at, 0, 1) + call.integer(output_mask_at, 1, 1);
  return streaming(call, {.product = gradients * *product});
}

/// (..., bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask)
Estimate convolution_backward(const Call& call) { return backward(call, 7, 10); }
/// Without bias_sizes: (..., stride, padding, dilation, transposed, output_padding, groups,
/// output_mask)
Estimate convolution_backward_overrideable(const Call& call) { return backward(call, 6, 9); }
/// (..., kernel_size, stride, padding, output_mask)
Estimate slow_conv2d_backward(const Call& call) { return backward(call, none, 6); }

/// conv_tbc(input [T, B, C_in], weight [K, C_in, C_out], bias, pad): time by batch by channels.
Estimate conv_tbc(const Call& call) {
  const TensorSpec *out = call.output(0), *weight = call.input_at(1);
  if (!out || !weight || out->sizes.size() != 3) return std::nullopt;
  return streaming(call, {.product = 2 * Count(out->sizes[0]) * out->sizes[1] * elements(*weight)});
}

constexpr Rule convolution_rows[] = {
    {"aten::convolution", convolution},
    {"aten::_convolution", convolution},
    {"aten::convolution_overrideable", convolution},
    {"aten::convolution_backward", convolution_backward},
    {"aten::convolution_backward_overrideable", convolution_backward_overrideable},
    {"aten::conv_tbc", conv_tbc},
    {"aten::cudnn_convolution", plain},
    {"aten::cudnn_convolution_relu", plain},
    {"aten::cudnn_convolution_add_relu", plain},
    {"aten::cudnn_convolution_transpose", transposed},
    {"aten::mkldnn_convolution", plain},
    {"aten::miopen_convolution", plain},
    {"aten::miopen_depthwise_convolution", plain},
    {"aten::miopen_convolution_transpose", transposed},
    {"aten::_slow_conv2d_forward", plain},
    {"aten::_slow_conv2d_backward", slow_conv2d_backward},
    {"aten::slow_conv3d_forward", plain},
    {"aten::slow_conv_dilated2d", plain},
    {"aten::slow_conv_dilated3d", plain},
    {"aten::_conv_depthwise2d", plain},
    {"aten::conv_depthwise3d", plain},
    {"aten::slow_conv_transpose2d", transposed},
    {"aten::slow_conv_transpose3d", transposed},
};

}  // namespace

Rules convolution_rules() { return convolution_rows; }

}  // namespace symprof::profile
