// Convolutions: one cuDNN kernel for the forward pass and for each gradient, one more for a bias.
// cuDNN may round fp32 to TF32 unless the program disables it (torch.backends.cudnn.allow_tf32).
#include <algorithm>
#include <utility>

#include "profile/cost/convolution_kernels.h"
#include "profile/cost/memory_format.h"
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"
#include "profile/cost/time/sums.h"

namespace symprof::profile {
namespace {

/// Argument positions of an operator; `none`: no such argument.
struct ConvolutionArguments {
  int input = 0, weight = 1, bias = 2, stride = 3, dilation = 5, transposed = 6, groups = 8;
};

std::int64_t positions(const TensorSpec& tensor, std::size_t spatial) {
  std::int64_t product = 1;
  for (std::size_t i = tensor.sizes.size() - spatial; i < tensor.sizes.size(); ++i)
    product *= tensor.sizes[i];
  return product;
}

/// The work without its pass. `input` and `output` are those of the non-transposed convolution; a
/// transposed convolution is its data gradient.
std::optional<ConvolutionWork> shape_of(const Call& call, const ConvolutionArguments& at,
                                        const TensorSpec* input, const TensorSpec* output) {
  const TensorSpec* weight = call.input_at(at.weight);
  if (!input || !output || !weight || weight->sizes.size() < 3) return std::nullopt;
  const std::size_t spatial = weight->sizes.size() - 2;
  if (input->sizes.size() < spatial + 1 || output->sizes.size() != input->sizes.size())
    return std::nullopt;
  const std::size_t channels = input->sizes.size() - spatial - 1;
  ConvolutionWork c;
  c.batch = channels == 1 ? input->sizes[0] : 1;
  c.groups = call.integer(at.groups, 0, 1);
  c.in_channels = input->sizes[channels], c.out_channels = output->sizes[channels];
  c.in = positions(*input, spatial), c.out = positions(*output, spatial);
  c.window = positions(*weight, spatial);
  c.number_bytes = element_bytes(input->dtype);
  c.channels_last = is_channels_last_alone(*input) || is_channels_last_alone(*weight);
  const bool is_square = spatial == 2 && weight->sizes[2] == 3 && weight->sizes[3] == 3;
  const bool steps = call.integer(at.stride, 0, 1) > 1 || call.integer(at.dilation, 0, 1) > 1;
  c.is_winograd = is_square && !steps;
  return c;
}

std::optional<TimeClass> class_of(const Call& call, const TensorSpec& input,
                                  const DeviceSpec& device) {
  const std::optional<TimeClass> product =
      product_class(input.dtype, device, call.record().tf32_convolutions);
  if (product == TimeClass::product_16bit) return TimeClass::convolution_16bit;
  if (product == TimeClass::product_tf32) return TimeClass::convolution_tf32;
  if (product == TimeClass::product_fp32) return TimeClass::convolution_fp32;
  return std::nullopt;
}

/// The class of depthwise convolutions: PyTorch's own kernels, or cuDNN's channels-last kernels on
/// Hopper (measured only there). All others have the `usual` class. CPU libraries have special
/// loops for both layouts.
TimeClass class_of(const Call& call, const ConvolutionArguments& at, const ConvolutionWork& c,
                   TimeClass usual, const DeviceSpec& device) {
  const TensorSpec *input = call.input_at(at.input), *weight = call.input_at(at.weight);
  const bool transposed = at.transposed != none && call.integer(at.transposed, 0, 0) != 0;
  constexpr int hopper = 9;
  if (c.groups <= 1 || c.in_channels != c.groups || transposed) return usual;
  if (device.is_cpu) return c.channels_last ? TimeClass::depthwise_cudnn : TimeClass::depthwise;
  if (is_native_depthwise(call, {at.stride, at.dilation, at.transposed, at.groups}, *input,
                          *weight))
    return TimeClass::depthwise;
  return c.channels_last && device.compute_major == hopper ? TimeClass::depthwise_cudnn : usual;
}

/// Adds the bias per channel: reads and writes the output once more.
Kernel adds_bias(const TensorSpec& output, const DeviceSpec& device) {
  const std::int64_t bytes = 2 * numbers(output) * element_bytes(output.dtype);
  return {TimeClass::elementwise, StreamWork{std::max(bytes, bytes_one_by_one(output, device))}};
}

/// The bias gradient: reads the output gradient.
Kernel sums_bias(const TensorSpec& gradient, const DeviceSpec& device) {
  const std::int64_t bytes = element_bytes(gradient.dtype), all = numbers(gradient);
  if (device.is_cpu || all == 0) return {TimeClass::elementwise, StreamWork{all * bytes}};
  const std::int64_t channels = gradient.sizes[1], length = all / channels;
  const std::int64_t read = bytes_of_sum(all, bytes, device);
  return has_channels_last(gradient) ? sum_across(channels, length, read, device)
                                     : sum_apart(channels, length, read, device);
}

bool is_empty(const ConvolutionWork& c) {
  return c.batch * c.in_channels * c.out_channels * c.in * c.out * c.window == 0;
}

LaunchEstimate forward_launches(const Call& call, const DeviceSpec& device,
                                const ConvolutionArguments& at) {
  const TensorSpec *input = call.input_at(at.input), *output = call.output(0);
  if (!input || !output) return std::nullopt;
  const bool transposed = at.transposed != none && call.integer(at.transposed, 0, 0) != 0;
  const std::optional<TimeClass> time_class = class_of(call, *input, device);
  std::optional<ConvolutionWork> c =
      transposed ? shape_of(call, at, output, input) : shape_of(call, at, input, output);
  if (!c || !time_class) return std::nullopt;
  if (is_empty(*c)) return Launches();
  if (transposed) c->pass = ConvolutionPass::data_gradient;
  Launches launches{{{class_of(call, at, *c, *time_class, device), *c}}};
  if (at.bias != none && call.input_at(at.bias) != nullptr)
    launches.kernels.push_back(adds_bias(*output, device));
  return launches;
}

/// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
LaunchEstimate convolution_launches(const Call& call, const Cost&, const DeviceSpec& device) {
  return forward_launches(call, device, {});
}

/// cudnn_convolution(input, weight, padding, stride, dilation, groups, ...)
LaunchEstimate cudnn_launches(const Call& call, const Cost&, const DeviceSpec& device) {
  return forward_launches(call, device,
                          {.bias = none, .dilation = 4, .transposed = none, .groups = 5});
}

/// (grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
/// groups, output_mask)
LaunchEstimate backward_launches(const Call& call, const Cost&, const DeviceSpec& device) {
  const ConvolutionArguments at{.input = 1,
                                .weight = 2,
                                .bias = none,
                                .stride = 4,
                                .dilation = 6,
                                .transposed = 7,
                                .groups = 9};
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1);
  if (!gradient || !input) return std::nullopt;
  const bool transposed = call.integer(at.transposed, 0, 0) != 0;
  const std::optional<TimeClass> time_class = class_of(call, *input, device);
  std::optional<ConvolutionWork> c =
      transposed ? shape_of(call, at, gradient, input) : shape_of(call, at, input, gradient);
  if (!c || !time_class) return std::nullopt;
  if (is_empty(*c)) return Launches();
  Launches launches;
  c->pass = transposed ? ConvolutionPass::forward : ConvolutionPass::data_gradient;
  const TimeClass of_call = class_of(call, at, *c, *time_class, device);
  if (call.integer(10, 0, 1) != 0) launches.kernels.push_back({of_call, *c});
  c->pass = ConvolutionPass::weight_gradient;
  if (call.integer(10, 1, 1) != 0) launches.kernels.push_back({of_call, *c});
  if (call.integer(10, 2, 0) != 0) launches.kernels.push_back(sums_bias(*gradient, device));
  return launches;
}

constexpr TimeRule convolution_time_rows[] = {
    {"aten::convolution", convolution_launches},
    {"aten::_convolution", convolution_launches},
    {"aten::convolution_overrideable", convolution_launches},
    {"aten::convolution_backward", backward_launches},
    {"aten::cudnn_convolution", cudnn_launches},
};

}  // namespace

TimeRules convolution_times() { return {nullptr, convolution_time_rows}; }

}  // namespace symprof::profile
