#include "profile/cost/convolution_kernels.h"

#include "profile/cost/memory_format.h"

namespace symprof::profile {
namespace {

/// The inputs of cuDNN's half-precision table. A 1-D convolution is an image of one row.
struct Filtered {
  std::int64_t images, channels, height, width, filter_height, filter, stride, stride_down;
};

Filtered filtered_of(const Call& call, const ConvolutionSettingsAt& at, const TensorSpec& input,
                     const TensorSpec& weight) {
  const bool is_line = input.sizes.size() == 3;
  const std::int64_t stride = call.integer(at.stride, is_line ? 0 : 1, 1);
  return {input.sizes[0],
          input.sizes[1],
          is_line ? 1 : input.sizes[2],
          input.sizes.back(),
          is_line ? 1 : weight.sizes[2],
          weight.sizes.back(),
          stride,
          is_line ? stride : call.integer(at.stride, 0, 1)};
}

/// check_cudnn_depthwise_workload_with_filter in native/Convolution.cpp.
bool is_worth_cudnn(const Filtered& c) {
  if (c.height == 1 && c.stride == 1) return true;
  if (c.filter_height != c.filter || c.width < 7) return false;
  if (c.filter != 1 && c.filter != 3 && c.filter != 5) return false;
  if (c.stride == 1) return true;
  if (c.stride != 2) return false;
  const bool is_wide = c.filter != 1;
  if (c.images == 1) return is_wide || c.width <= 28;
  if (!is_wide) return c.images <= 16 && c.channels >= 128 && c.width <= 7;
  return c.channels >= 512 || (c.channels >= 256 && c.width >= 28);
}

/// use_cudnn_depthwise there.
bool is_cudnn_in_half(const Call& call, const ConvolutionSettingsAt& at, const TensorSpec& input,
                      const TensorSpec& weight) {
  constexpr std::int64_t fewest_channels = 32;
  const std::size_t spatial = input.sizes.size() - 2;
  if (spatial > 2 || input.sizes[1] < fewest_channels) return false;
  for (std::size_t i = 0; i < spatial; ++i)
    if (call.integer(at.dilation, i, call.integer(at.dilation, 0, 1)) != 1) return false;
  const Filtered c = filtered_of(call, at, input, weight);
  return (c.stride == c.stride_down || c.height == 1) && is_worth_cudnn(c);
}

}  // namespace

bool is_native_depthwise(const Call& call, const ConvolutionSettingsAt& at, const TensorSpec& input,
                         const TensorSpec& weight) {
  const std::int64_t groups = call.integer(at.groups, 0, 1);
  const bool is_transposed = at.transposed >= 0 && call.integer(at.transposed, 0, 0) != 0;
  const bool is_depthwise = !is_transposed && groups > 1 && input.sizes.size() >= 3 &&
                            input.sizes[1] == groups && weight.sizes[0] % groups == 0 &&
                            is_row_major(input) && is_row_major(weight);
  return is_depthwise &&
         (input.dtype != DType::float16 || !is_cudnn_in_half(call, at, input, weight));
}

}  // namespace symprof::profile
