// Pooling, interpolation, padding, and other operators whose kernels want one layout: a tensor that
// lies otherwise is copied, an output that does is made beside (aten/src/ATen/native/cuda:
// AveragePool2d.cu, DilatedMaxPool2d.cu, AdaptiveAveragePooling.cu, AdaptiveMaxPooling2d.cu,
// UpSample*.cu, ReflectionPad.cu, Im2Col.cu, Col2Im.cu, TensorTransformations.cu).
#include <limits>

#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {
namespace {

/// The first tensor is copied unless it is row-major.
Scratch row_major_first(const Call& call, const DeviceSpec&) {
  const TensorSpec* tensor = call.input(0);
  if (tensor == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*tensor)) result.take(tensor->bytes());
  return result;
}

/// The same before the output is made.
Scratch row_major_before(const Call& call, const DeviceSpec& device) {
  Scratch result = row_major_first(call, device);
  result.make_outputs();
  return result;
}

/// Rows or channels may be last.
Scratch either_layout(const Call& call, const DeviceSpec& device) {
  if (call.input(0) != nullptr && is_channels_last(*call.input(0))) return {};
  return row_major_first(call, device);
}

bool prefers_channels_last(const TensorSpec& tensor) {
  return is_channels_last(tensor) && !is_row_major(tensor);
}

/// (gradient, input, …): the gradient in the layout of the input.
Scratch as_input(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1);
  if (gradient == nullptr || input == nullptr) return {.is_incomplete = true};
  if (!prefers_channels_last(*input)) return row_major_first(call, device);
  Scratch result;
  if (!is_channels_last(*gradient)) result.take(gradient->bytes());
  return result;
}

/// (gradient, input): kernels for channels last take any gradient.
Scratch adaptive_average_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec* input = call.input_at(1);
  if (input != nullptr && prefers_channels_last(*input)) return {};
  return row_major_first(call, device);
}

/// All tensors row-major: outputs beside, then copies of inputs.
Scratch row_major_all(const Call& call, const DeviceSpec&) {
  Scratch result;
  for (std::size_t i = 0; i < call.output_count(); ++i)
    if (call.output(i) != nullptr && !is_row_major(*call.output(i)))
      result.take(call.output(i)->bytes());
  for (std::size_t i = 0; call.input(i) != nullptr; ++i)
    if (!is_row_major(*call.input(i))) result.take(call.input(i)->bytes());
  return result;
}

/// (gradient, input, indices): the input gives no more than its sizes.
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

/// im2col and col2im make their output as large as their input, and then as large as it has to be:
/// where that is more, the first one goes.
Scratch columns(const Call& call, const DeviceSpec&) {
  const TensorSpec *input = call.input(0), *output = call.output(0);
  if (input == nullptr || output == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*input)) result.take(input->bytes());
  if (output->bytes() > input->bytes()) result.take(input->bytes());
  result.make_outputs();
  return result;
}

/// roll(self, shifts, dims): one dimension after the other, each into a tensor of its own.
Scratch roll(const Call& call, const DeviceSpec&) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  constexpr std::int64_t none_left = std::numeric_limits<std::int64_t>::min();
  std::size_t shifts = 0;
  while (call.integer(1, shifts, none_left) != none_left) ++shifts;
  Scratch result;
  const bool is_copied = !is_row_major(*self);
  if (is_copied) result.take(self->bytes());
  for (std::size_t i = 1; i < shifts; ++i) {
    result.take(self->bytes());
    if (i == 1 && is_copied) result.give_back(0);
  }
  result.make_outputs();
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

constexpr ScratchRule resampling_rows[] = {
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
    {"aten::upsample_nearest1d_backward", row_major_first},
    {"aten::_upsample_nearest_exact1d_backward", row_major_first},
    {"aten::upsample_linear1d_backward", row_major_first},
    {"aten::upsample_nearest2d_backward", either_layout},
    {"aten::_upsample_nearest_exact2d_backward", either_layout},
    {"aten::upsample_bilinear2d_backward", either_layout},
    {"aten::upsample_bicubic2d_backward", row_major_first},
    {"aten::_upsample_bilinear2d_aa", row_major_all},
    {"aten::_upsample_bilinear2d_aa_backward", row_major_first},
    {"aten::upsample_nearest3d", row_major_all},
    {"aten::_upsample_nearest_exact3d", row_major_all},
    {"aten::upsample_nearest3d_backward", row_major_first},
    {"aten::_upsample_nearest_exact3d_backward", row_major_first},
    {"aten::upsample_trilinear3d_backward", row_major_first},
    {"aten::reflection_pad2d", row_major_first},
    {"aten::reflection_pad1d_backward", row_major_first},
    {"aten::reflection_pad2d_backward", row_major_first},
    {"aten::im2col", columns},
    {"aten::col2im", columns},
    {"aten::roll", roll},
};

}  // namespace

ScratchRules resampling_scratch() { return resampling_rows; }

}  // namespace symprof::profile
