// Normalizations of layers, groups and batches. Sources: aten/src/ATen/native/cuda/
// {layer_norm_kernel,group_norm_kernel,Normalization}.cu, Normalization.cuh.
#include <algorithm>
#include <optional>

#include "base/rounding.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

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

/// (gradient, input, normalized_shape, mean, rstd, weight, bias, output_mask). The first allocated
/// gradients of weight and bias are replaced by the sums of their partials.
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

/// (input, weight, bias, batch, channels, elements, groups, eps): fp32 statistics besides those in
/// half precision; scale and shift per channel.
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

/// Blocks along the rows of a channels-last batch combine partial results in global memory
/// (flexible_launch_configs and batch_norm_stats_channels_last_cuda_template in Normalization.cuh).
void add_staging(Scratch& scratch, const TensorSpec& input, std::int64_t values) {
  constexpr std::int64_t threads = 512, width = 32, elements_of_thread = 16, most_blocks = 128,
                         least_blocks = 8;
  const std::int64_t channels = input.sizes[1], rows = input.numel() / channels;
  std::int64_t block_x = std::min(floor_power_of_two(channels), width);
  const std::int64_t block_y =
      std::min(floor_power_of_two(divide_up(rows, elements_of_thread)), threads / block_x);
  if (block_x * block_y != threads)
    block_x = std::min(floor_power_of_two(channels), threads / block_y);
  const std::int64_t blocks = std::min(divide_up(rows, block_y * elements_of_thread), most_blocks);
  if (blocks < least_blocks) return;
  const std::size_t staging = scratch.take(values * channels * blocks * float_bytes);
  const std::size_t semaphores = scratch.take(divide_up(channels, block_x) * float_bytes);
  scratch.give_back(semaphores);
  scratch.give_back(staging);
}

bool has_channels_inside(const TensorSpec& input) {
  return is_channels_last(input) || (input.sizes.size() == 2 && is_row_major(input));
}

/// Scratch of mean and variance, by layout: channels-last kernels, for two and four dimensions,
/// stage partial results; contiguous ones need none; all others use generic reductions, which
/// convert bfloat16 to fp32 first (batch_norm_choose_impl, batch_norm_mean_var).
void add_statistics(Scratch& result, TensorSpec input, const DeviceSpec& device) {
  constexpr std::int64_t volume = 5, welford_bytes = 16;
  if (input.numel() == 0) return;
  if (has_channels_inside(input) && input.sizes.size() != volume)
    return add_staging(result, input, 4);
  if (is_row_major(input)) return;
  std::optional<std::size_t> copy;
  if (input.dtype == DType::bfloat16) {
    input.dtype = DType::float32;
    copy = result.take(input.bytes());
  }
  std::vector<bool> is_reduced(input.sizes.size(), true);
  is_reduced[1] = false;
  add_reduction(result,
                {.input = input,
                 .is_reduced = is_reduced,
                 .accumulator_bytes = welford_bytes,
                 .accumulates_in_output = false},
                device);
  if (copy) result.give_back(*copy);
}

/// (input, weight, bias, running_mean, running_var, training, …)
Scratch batch_norm(const Call& call, const DeviceSpec& device) {
  Scratch result;
  if (call.integer(5, 0, 0) != 0) add_statistics(result, *call.input(0), device);
  return result;
}

/// (gradient, input, weight, running_mean, running_var, save_mean, save_invstd, training, …)
Scratch batch_norm_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *input = call.input_at(1);
  if (gradient == nullptr || input == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (input->numel() == 0) return result;
  if (!has_channels_inside(*input)) {
    for (const TensorSpec* tensor : {input, gradient})
      if (!can_be_joined(*tensor, 2)) result.take(tensor->bytes());
    result.make_outputs();
    return result;
  }
  const std::int64_t statistic = input->sizes[1] * float_bytes;
  result.take(statistic);
  result.take(statistic);
  if (has_channels_inside(*gradient)) add_staging(result, *input, 2);
  result.make_outputs();
  return result;
}

/// True if the forward pass ran cuDNN's kernel: the only backend of batch_norm with a reserve for
/// the backward (_batch_norm_with_update in Normalization.cu).
bool is_of_cudnn(const TensorSpec* reserve) { return reserve != nullptr && reserve->numel() > 0; }

/// (input, weight, bias, running_mean, running_var, momentum, eps)
Scratch batch_norm_with_update(const Call& call, const DeviceSpec& device) {
  if (is_of_cudnn(call.output(3))) return {.is_incomplete = true};
  Scratch result;
  add_statistics(result, *call.input(0), device);
  return result;
}

/// (gradient, input, weight, running_mean, running_var, save_mean, save_var, update, eps,
/// output_mask, reserve)
Scratch chosen_batch_norm_backward(const Call& call, const DeviceSpec& device) {
  if (is_of_cudnn(call.input_at(10))) return {.is_incomplete = true};
  return batch_norm_backward(call, device);
}

constexpr ScratchRule normalization_rows[] = {
    {"aten::native_layer_norm", layer_norm},
    {"aten::_fused_rms_norm", layer_norm},
    {"aten::native_layer_norm_backward", layer_norm_backward},
    {"aten::_fused_rms_norm_backward", rms_norm_backward},
    {"aten::native_group_norm", group_norm},
    {"aten::native_group_norm_backward", group_norm_backward},
    {"aten::native_batch_norm", batch_norm},
    {"aten::native_batch_norm_backward", batch_norm_backward},
    {"aten::_batch_norm_with_update", batch_norm_with_update},
    {"aten::batch_norm_backward", chosen_batch_norm_backward},
    // Workspaces of cuDNN.
    {"aten::cudnn_batch_norm", unknown_scratch},
    {"aten::cudnn_batch_norm_backward", unknown_scratch},
};

}  // namespace

ScratchRules normalization_scratch() { return normalization_rows; }

}  // namespace symprof::profile
