// Normalisation of batches. Sources: aten/src/ATen/native/cuda/Normalization.cu, Normalization.cuh.
#include <algorithm>
#include <optional>

#include "base/rounding.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// Blocks along the rows of a channels-last batch meet in memory (flexible_launch_configs and
/// batch_norm_stats_channels_last_cuda_template in Normalization.cuh).
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

/// Kernels for channels last come for two and four dimensions; layouts that have none of their own
/// take mean and variance as reductions do, of bfloat16 in fp32 (batch_norm_choose_impl,
/// batch_norm_mean_var).
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

/// Of the kernels that batch_norm and its backward choose between, cuDNN's keep something for the
/// backward (_batch_norm_with_update in Normalization.cu).
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

constexpr ScratchRule batch_norm_rows[] = {
    {"aten::native_batch_norm", batch_norm},
    {"aten::native_batch_norm_backward", batch_norm_backward},
    {"aten::_batch_norm_with_update", batch_norm_with_update},
    {"aten::batch_norm_backward", chosen_batch_norm_backward},
};

}  // namespace

ScratchRules batch_norm_scratch() { return batch_norm_rows; }

}  // namespace symprof::profile
