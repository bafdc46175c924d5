// cuDNN chooses a plan at run time and holds the plan's workspace from the allocator during the
// call (aten/src/ATen/native/cudnn/Conv_v8.cpp). Only cuDNN knows its size; cudnn_plans.h has
// formulas for observed sizes. Convolutions that cuDNN does not run use PyTorch's own kernels
// (native/Convolution.cpp, cuda/DepthwiseConv2d.cu, DepthwiseConv3d.cu).
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "profile/cost/convolution_kernels.h"
#include "profile/cost/scratch/cudnn_plans.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {

namespace {

/// True for a 1-D, 2-D or 3-D convolution's tensor, batched. cuDNN uses one memory format for all
/// tensors of a call: channels last if input or weight is (cudnn_conv_suggest_memory_format in
/// native/ConvUtils.h); a tensor in both formats does not decide it.
bool is_image(const TensorSpec& tensor) {
  return tensor.dtype != DType::float64 && tensor.sizes.size() >= 3 && tensor.sizes.size() <= 5;
}

bool wants_channels_last(std::initializer_list<const TensorSpec*> tensors) {
  return std::ranges::any_of(tensors, [](const TensorSpec* tensor) {
    return tensor != nullptr && is_channels_last_alone(*tensor);
  });
}

/// Takes a block for a copy of `tensor` in the wanted layout; nullopt if it already has it.
std::optional<std::size_t> take_copy(Scratch& result, const TensorSpec& tensor,
                                     bool channels_last) {
  if (channels_last ? is_channels_last(tensor) : is_row_major(tensor)) return std::nullopt;
  return result.take(tensor.bytes());
}

/// A workspace that is held while one plan runs.
void add_plan(Scratch& result, std::int64_t bytes) {
  if (bytes > 0) result.give_back(result.take(bytes));
}

/// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Scratch forward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1);
  if (input == nullptr || weight == nullptr) return {.is_incomplete = true};
  Scratch result;
  TensorSpec laid_out = *input;
  if (constexpr std::size_t line = 3; input->sizes.size() == line && !is_row_major(*input)) {
    laid_out = row_major(input->dtype, input->sizes);  // Before it is viewed as 2-D.
    result.take(laid_out.bytes());
  }
  const bool is_native = is_native_depthwise(call, {}, laid_out, *weight);
  if (is_native || !is_image(*input)) {
    result.make_outputs();
    result.is_incomplete = !is_native;
    return result;
  }
  const bool channels_last = wants_channels_last({input, weight, call.output(0)});
  take_copy(result, *input, channels_last);
  result.make_outputs();
  take_copy(result, *weight, channels_last);
  if (const TensorSpec* output = call.output(0); output != nullptr)
    add_plan(result, plan_workspace_bytes(
                         PlanPass::forward,
                         {*input, *weight, *output, channels_last, call.integer(8, 0, 1)}, device));
  result.is_incomplete = true;
  return result;
}

/// The gradient of the bias: a sum over all dimensions except the channels.
void add_bias_gradient(Scratch& result, const TensorSpec& gradient, const DeviceSpec& device) {
  std::vector<bool> is_reduced(gradient.sizes.size(), true);
  is_reduced[1] = false;
  add_reduction(result, sum_of(gradient, std::move(is_reduced)), device);
}

/// cuDNN's backward: copies of operands in another layout are held until both gradients are
/// computed; then the bias gradient.
Scratch cudnn_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec &gradient = *call.input_at(0), &input = *call.input_at(1),
                   &weight = *call.input_at(2);
  const bool channels_last = wants_channels_last({&input, &weight, call.output(0)});
  Scratch result{.is_incomplete = true};
  if (call.integer(10, 1, 0) != 0) take_copy(result, input, channels_last);
  take_copy(result, gradient, channels_last);
  result.make_outputs();
  const PlannedConvolution planned{input, weight, gradient, channels_last, call.integer(9, 0, 1)};
  if (call.integer(10, 0, 0) != 0) {
    take_copy(result, weight, channels_last);
    add_plan(result, plan_workspace_bytes(PlanPass::data_gradient, planned, device));
  }
  if (call.integer(10, 1, 0) != 0)
    add_plan(result, plan_workspace_bytes(PlanPass::weight_gradient, planned, device));
  result.give_back_from(0);
  if (call.integer(10, 2, 0) != 0) add_bias_gradient(result, gradient, device);
  return result;
}

/// (gradient, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
/// groups, output_mask)
Scratch backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1),
                   *weight = call.input_at(2);
  if (gradient == nullptr || input == nullptr || weight == nullptr) return {.is_incomplete = true};
  constexpr ConvolutionSettingsAt at{.stride = 4, .dilation = 6, .transposed = 7, .groups = 9};
  if (!is_native_depthwise(call, at, *input, *weight))
    return is_image(*input) ? cudnn_backward(call, device) : Scratch{.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  result.make_outputs();
  if (call.integer(10, 2, 0) == 0) return result;
  if (!result.blocks.empty()) result.give_back(0);
  add_bias_gradient(result, *gradient, device);
  return result;
}

constexpr ScratchRule convolution_rows[] = {
    {"aten::convolution", forward},
    {"aten::_convolution", forward},
    {"aten::convolution_backward", backward},
    {"aten::cudnn_convolution", unknown_scratch},
    {"aten::cudnn_convolution_transpose", unknown_scratch},
};

}  // namespace

ScratchRules convolution_scratch() { return convolution_rows; }

}  // namespace symprof::profile
