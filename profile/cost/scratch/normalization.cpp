// Softmax, and normalizations of layers and groups. Sources: aten/src/ATen/native/cuda/{SoftMax,
// layer_norm_kernel,group_norm_kernel}.cu.
#include <algorithm>

#include "base/rounding.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// The forward kernels of softmax want rows that lie together (host_softmax).
Scratch softmax(const Call& call, const DeviceSpec&) {
  Scratch result;
  if (const TensorSpec* input = call.input(0); input != nullptr && !is_row_major(*input))
    result.take(input->bytes());
  return result;
}

bool is_expanded(const TensorSpec& tensor) {
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
    if (tensor.strides[i] == 0 && tensor.sizes[i] != 1) return true;
  return false;
}

/// (gradient, output, …): their product, which the kernel sums and subtracts, in the layout of the
/// gradient; it and the output with rows that lie together (softmax_backward_cuda_out).
Scratch softmax_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *output = call.input_at(1);
  if (gradient == nullptr || output == nullptr) return {.is_incomplete = true};
  Scratch result{.blocks = {gradient->bytes()}};
  const TensorSpec& laid_out_as = is_expanded(*gradient) ? *output : *gradient;
  for (const TensorSpec* tensor : {&laid_out_as, output})
    if (!is_row_major(*tensor)) result.take(tensor->bytes());
  return result;
}

/// (gradient, output, …), each with rows that lie together (host_softmax_backward).
Scratch log_softmax_backward(const Call& call, const DeviceSpec&) {
  Scratch result;
  for (const int position : {0, 1})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && !is_row_major(*tensor))
      result.take(tensor->bytes());
  return result;
}

/// Rows that are minus infinity throughout become 0: a mask of elements and one of rows, which is
/// reduced (_safe_softmax in transformers/attention.cpp).
Scratch safe_softmax(const Call& call, const DeviceSpec& device) {
  const TensorSpec* input = call.input(0);
  if (input == nullptr || input->sizes.empty()) return {.is_incomplete = true};
  std::vector<bool> is_reduced(input->sizes.size());
  const std::int64_t dimension = call.integer(1, 0, -1);
  const auto rank = static_cast<std::int64_t>(input->sizes.size());
  const auto at = static_cast<std::size_t>(dimension < 0 ? dimension + rank : dimension);
  is_reduced[at] = true;
  Scratch result;
  TensorSpec mask = row_major(DType::boolean, input->sizes);
  result.take(mask.numel());
  result.take(mask.numel() / std::max<std::int64_t>(mask.sizes[at], 1));
  add_reduction(
      result,
      {.input = mask, .is_reduced = is_reduced, .output = DType::boolean, .accumulator_bytes = 1},
      device);
  result.take(element_bytes(call.output(0)->dtype));  // The 0.
  return result;
}

/// Many short rows: blocks of threads write partial gradients of weight and bias, which are then
/// summed (LaunchGammaBetaBackwardCUDAKernel).
struct WeightGradients {
  std::int64_t rows, width, partials;

  WeightGradients(const TensorSpec& input, std::int64_t normalized_width, const DeviceSpec& device)
      : rows(input.numel() / normalized_width), width(normalized_width) {
    constexpr std::int64_t many_rows = 65536, columns = 32, rows_of_block = 32, most = 32768;
    const bool are_few = width / columns < device.multiprocessors / 2;
    partials = rows > many_rows && are_few
                   ? std::min(divide_up(rows, rows_of_block), most / divide_up(width, columns))
                   : 0;
  }

  std::int64_t bytes(DType dtype) const { return partials * width * element_bytes(dtype); }

  void sum(Scratch& scratch, DType dtype, const DeviceSpec& device) const {
    add_reduction(scratch, sum_of(row_major(dtype, {partials, width}), {true, false}), device);
  }
};

std::int64_t normalized_width(const Call& call, int position) {
  std::int64_t width = 1;
  for (std::size_t i = 0; call.integer(position, i, 0) != 0; ++i)
    width *= call.integer(position, i, 0);
  return width;
}

Scratch layer_norm(const Call& call, const DeviceSpec&) {
  Scratch result;
  if (!is_row_major(*call.input(0))) result.take(call.input(0)->bytes());
  result.make_outputs();
  return result;
}

/// (gradient, input, normalized_shape, mean, rstd, weight, bias, output_mask). The gradients of
/// weight and bias that are made first give way to the sums of their partials.
Scratch layer_norm_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1),
                   *weight = call.input_at(5);
  if (gradient == nullptr || input == nullptr || input->numel() == 0)
    return {.is_incomplete = input == nullptr};
  Scratch result;
  if (!is_row_major(*input)) result.take(input->bytes());
  const bool wants[] = {call.integer(7, 1, 0) != 0 && weight != nullptr,
                        call.integer(7, 2, 0) != 0 && call.input_at(6) != nullptr};
  const WeightGradients partial(*input, normalized_width(call, 2), device);
  const DType dtype = weight != nullptr ? weight->dtype : input->dtype;
  const bool sums = partial.partials > 0 && (wants[0] || wants[1]);
  result.make_outputs();
  std::vector<std::size_t> replaced;
  for (const bool is_wanted : wants)
    if (is_wanted && sums) replaced.push_back(result.take(partial.width * element_bytes(dtype)));
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  for (const bool is_wanted : wants)
    if (is_wanted && sums) result.take(partial.bytes(dtype));
  for (const std::size_t block : replaced) {
    partial.sum(result, dtype, device);
    result.give_back(block);
  }
  return result;
}

/// (gradient, input, normalized_shape, rstd, weight, output_mask)
Scratch rms_norm_backward(const Call& call, const DeviceSpec& device) {
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1),
                   *weight = call.input_at(4);
  if (gradient == nullptr || input == nullptr || input->numel() == 0)
    return {.is_incomplete = input == nullptr};
  Scratch result;
  if (!is_row_major(*input)) result.take(input->bytes());
  result.make_outputs();
  const WeightGradients partial(*input, normalized_width(call, 2), device);
  const bool sums = partial.partials > 0 && weight != nullptr && call.integer(5, 1, 0) != 0;
  if (sums) result.take(partial.width * element_bytes(weight->dtype));
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  if (!sums) return result;
  result.take(partial.bytes(weight->dtype));
  partial.sum(result, weight->dtype, device);
  return result;
}

/// (input, weight, bias, batch, channels, elements, groups, eps): statistics in fp32 beside those
/// in half precision, scale and shift of each channel.
Scratch group_norm(const Call& call, const DeviceSpec&) {
  const std::int64_t batch = call.integer(3, 0, 0), channels = call.integer(4, 0, 0),
                     elements = call.integer(5, 0, 0), groups = call.integer(6, 0, 0);
  Scratch result;
  if (is_half(call.output(1)->dtype)) result.blocks.assign(2, batch * groups * float_bytes);
  const std::int64_t element = std::max(element_bytes(call.input(0)->dtype), float_bytes);
  if (elements > 1)
    for (int i = 0; i < 2; ++i) result.take(Count(batch) * channels * element);
  return result;
}

/// (gradient, input, mean, rstd, weight, batch, channels, elements, groups, output_mask): sums over
/// each channel, coefficients of each group and channel.
Scratch group_norm_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec* input = call.input_at(1);
  if (input == nullptr) return {.is_incomplete = true};
  const std::int64_t batch = call.integer(5, 0, 0), channels = call.integer(6, 0, 0),
                     elements = call.integer(7, 0, 0), groups = call.integer(8, 0, 0);
  const std::int64_t element = std::max(element_bytes(input->dtype), float_bytes);
  const std::int64_t of_channels = batch * channels * element, of_groups = batch * groups * element;
  Scratch result{.blocks = {of_channels, of_channels}};
  if (call.integer(9, 0, 0) == 0) return result;
  result.blocks.insert(result.blocks.end(), {of_groups, of_groups});
  if (elements > 1 && call.input_at(4) != nullptr) result.take(of_channels);
  return result;
}

constexpr ScratchRule normalization_rows[] = {
    {"aten::_softmax", softmax},
    {"aten::_log_softmax", softmax},
    {"aten::_softmax_backward_data", softmax_backward},
    {"aten::_log_softmax_backward_data", log_softmax_backward},
    {"aten::_safe_softmax", safe_softmax},
    {"aten::native_layer_norm", layer_norm},
    {"aten::_fused_rms_norm", layer_norm},
    {"aten::native_layer_norm_backward", layer_norm_backward},
    {"aten::_fused_rms_norm_backward", rms_norm_backward},
    {"aten::native_group_norm", group_norm},
    {"aten::native_group_norm_backward", group_norm_backward},
};

}  // namespace

ScratchRules normalization_scratch() { return normalization_rows; }

}  // namespace symprof::profile
