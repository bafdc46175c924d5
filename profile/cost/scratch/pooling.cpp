// Pooling: a tensor in another layout than the kernel requires is copied; such an output is
// computed in a temporary (aten/src/ATen/native/cuda: AveragePool2d.cu, DilatedMaxPool2d.cu,
// AdaptiveAveragePooling.cu, AdaptiveMaxPooling2d.cu).
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/row_major_copies.h"

namespace symprof::profile {
namespace {

/// The copy of the first tensor is allocated before the output.
Scratch row_major_before(const Call& call, const DeviceSpec& device) {
  Scratch result = row_major_first(call, device);
  result.make_outputs();
  return result;
}

bool prefers_channels_last(const TensorSpec& tensor) {
  return is_channels_last(tensor) && !is_row_major(tensor);
}

/// (gradient, input, …): the gradient copied to the input's layout.
Scratch as_input(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1);
  if (gradient == nullptr || input == nullptr) return {.is_incomplete = true};
  if (!prefers_channels_last(*input)) return row_major_first(call, device);
  Scratch result;
  if (!is_channels_last(*gradient)) result.take(gradient->bytes());
  return result;
}

/// (gradient, input): channels-last kernels accept any gradient.
Scratch adaptive_average_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec* input = call.input_at(1);
  if (input != nullptr && prefers_channels_last(*input)) return {};
  return row_major_first(call, device);
}

/// (gradient, input, indices): only the sizes of the input are used.
Scratch adaptive_maximum_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(2),
                   *output = call.output(0);
  if (gradient == nullptr || indices == nullptr || output == nullptr)
    return {.is_incomplete = true};
  Scratch result;
  for (const TensorSpec* tensor : {gradient, indices, output})
    if (!is_row_major(*tensor)) result.take(tensor->bytes());
  return result;
}

/// Inputs only: the output is row-major.
Scratch row_major_inputs(const Call& call, const DeviceSpec&) {
  Scratch result;
  for (std::size_t i = 0; call.input(i) != nullptr; ++i)
    if (!is_row_major(*call.input(i))) result.take(call.input(i)->bytes());
  result.make_outputs();
  return result;
}

constexpr ScratchRule pooling_rows[] = {
    {"aten::max_unpool2d", row_major_inputs},
    {"aten::fractional_max_pool2d_backward", row_major_before},
    {"aten::max_pool2d_with_indices_backward", as_input},
    {"aten::avg_pool2d_backward", as_input},
    {"aten::max_pool3d_with_indices_backward", row_major_first},
    {"aten::avg_pool3d_backward", row_major_first},
    {"aten::_adaptive_avg_pool2d_backward", adaptive_average_backward},
    {"aten::_adaptive_avg_pool3d_backward", row_major_first},
    {"aten::adaptive_max_pool2d", row_major_all},
    {"aten::adaptive_max_pool2d_backward", adaptive_maximum_backward},
    {"aten::adaptive_max_pool3d_backward", row_major_first},
};

}  // namespace

ScratchRules pooling_scratch() { return pooling_rows; }

}  // namespace symprof::profile
