// Normalizations. Row norms take one pass over their bytes forward; backward, a second kernel
// rereads them for the gradients of weight and bias. Batch norm in training reads its input twice,
// and its backward reads input and gradient twice, because batch statistics are computed first.
#include <algorithm>
#include <variant>

#include "profile/cost/memory_format.h"
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"
#include "profile/cost/time/sums.h"

namespace symprof::profile {
namespace {

/// Row kernels require contiguous rows (expect_contiguous in native/cuda/layer_norm_kernel.cu): a
/// noncontiguous operand is copied first.
void copy_to_rows(LaunchEstimate& launches, const TensorSpec* operand, const DeviceSpec& device) {
  if (!launches || launches->kernels.empty() || operand == nullptr || is_row_major(*operand))
    return;
  if (operand->strides.back() == 1)  // Rows with gaps, or in another order.
    launches->kernels.push_back(
        {TimeClass::elementwise,
         StreamWork{2 * numbers(*operand) * element_bytes(operand->dtype)}});
  else
    launches->kernels.push_back({TimeClass::copy, StreamWork{bytes_across(*operand, device)}});
}

/// `input`, `weight`: schema arguments. A row is as long as the weight, or else as the last
/// dimension.
template <int input, int weight, int percent, int launches>
LaunchEstimate norm_of_rows(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec *in = call.input_at(input), *scale = call.input_at(weight);
  if (!in || in->sizes.empty()) return std::nullopt;
  const std::int64_t all = numbers(*in);
  const std::int64_t length = scale != nullptr ? numbers(*scale) : in->sizes.back();
  const std::int64_t rows = length > 0 ? all / length : 0;
  LaunchEstimate result =
      by_rows(cost, TimeClass::layer_norm, rows, length, percent / 100.0, launches);
  if (!device.is_cpu)
    for (int operand = 0; operand <= input; ++operand)
      copy_to_rows(result, call.input_at(operand), device);
  return result;
}

/// vectorized_layer_norm_kernel (native/cuda/layer_norm_kernel.cu) without a mean: only squares are
/// summed, where a layer norm has Welford's update with a reciprocal per element. Rows that are not
/// a multiple of the vector width, and doubles, use the two kernels of a layer norm, and take as
/// long. The kernel names in truth/h200/kernel_record agree.
LaunchEstimate rms_norm_times(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t numbers_of_vector = 4;
  LaunchEstimate result = norm_of_rows<0, 2, 100, 1>(call, cost, device);
  if (device.is_cpu || !result || result->kernels.empty()) return result;
  Kernel& kernel = result->kernels[0];
  const std::int64_t length = std::get<RowWork>(kernel.work).length;
  if (length % numbers_of_vector == 0 && call.input_at(0)->dtype != DType::float64)
    kernel.time_class = TimeClass::rms_norm;
  return result;
}

/// The gradients of weight and bias: blocks of 32 columns go through all rows, 256 at a time, and
/// wait for each, where there are not enough columns to fill the device. Many rows of few columns
/// are split instead, and the parts summed (LaunchGammaBetaBackwardCUDAKernel in
/// native/cuda/layer_norm_kernel.cu). (grad_out, input, ...)
template <int weight, int gradients>
LaunchEstimate norm_backward(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const std::string_view wait =
      gradients == 1 ? "rms_norm_backward.wait" : "layer_norm_backward.wait";
  constexpr std::int64_t columns_of_block = 32, rows_at_once = 256, rows_of_part = 32,
                         fewest_to_split = 65536;
  if (device.is_cpu) return norm_of_rows<1, weight, 167, 2>(call, cost, device);
  LaunchEstimate result = norm_of_rows<1, weight, 100, 2>(call, cost, device);
  if (!result || result->kernels.empty()) return result;
  auto& work = std::get<RowWork>(result->kernels[0].work);
  const TensorSpec* in = call.input_at(1);
  const std::int64_t read = 2 * numbers(*in) * element_bytes(in->dtype);
  const std::int64_t columns = work.length, rows = work.rows;
  if (rows > fewest_to_split && 2 * (columns / columns_of_block) < device.multiprocessors) {
    work.bytes += read;
    const std::int64_t parts = (rows + rows_of_part - 1) / rows_of_part;
    const std::int64_t partial = bytes_of_sum(columns * parts, element_bytes(in->dtype), device);
    const Kernel sum = sum_across(columns, parts, partial, device);
    result->kernels.insert(result->kernels.end(), gradients, sum);
    return result;
  }
  const std::int64_t turns = (rows + rows_at_once - 1) / rows_at_once;
  const double waits = static_cast<double>(turns) * clocks_of(device, wait);
  work.bytes += std::max(read, bytes_of_clocks(device, waits));
  return result;
}

/// A row is a group of channels of one image. (input, weight, bias, N, C, HxW, group, eps), and
/// (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask).
template <int input, int first_size, int percent, int launches>
LaunchEstimate norm_of_groups(const Call& call, const Cost& cost, const DeviceSpec&) {
  const TensorSpec* in = call.input_at(input);
  if (!in) return std::nullopt;
  const std::int64_t rows = call.integer(first_size, 0, 1) * call.integer(first_size + 3, 0, 1);
  const std::int64_t length = rows > 0 ? numbers(*in) / rows : 0;
  return by_rows(cost, TimeClass::layer_norm, rows, length, percent / 100.0, launches);
}

// Group norm on a GPU is kernels of several kinds (native/cuda/group_norm_kernel.cu).

/// Moments of each row, then an element-wise kernel with broadcast operands. An input that is not
/// row-major is copied first.
LaunchEstimate group_norm_times(const Call& call, const Cost& cost, const DeviceSpec& device) {
  constexpr std::int64_t threads_of_block = 512, threads_of_warp = 32;
  LaunchEstimate result = norm_of_groups<0, 3, 150, 3>(call, cost, device);
  if (device.is_cpu || !result || result->kernels.empty()) return result;
  const TensorSpec& in = *call.input_at(0);
  const std::int64_t bytes = numbers(in) * element_bytes(in.dtype);
  Kernel& moments = result->kernels[0];
  moments.time_class = TimeClass::reduction;
  moments.launches = 2;
  auto& work = std::get<RowWork>(moments.work);
  const std::int64_t threads = work.length < threads_of_block ? threads_of_warp : threads_of_block;
  const std::int64_t rounds = (work.length + threads - 1) / threads;
  // From one number that a thread takes to the next Welford's update waits for a division.
  const double waits = clocks_of(device, "group_norm.moment") * static_cast<double>(rounds);
  work.bytes = std::max({bytes, bytes_at_rate(device, numbers(in), "group_norm.moments_per_clock"),
                         bytes_of_clocks(device, waits)});
  result->kernels.push_back(
      {TimeClass::elementwise, StreamWork{std::max(2 * bytes, bytes_one_by_one(in, device))}});
  copy_to_rows(result, &in, device);
  return result;
}

/// Sums of gradient and input for each channel of an image, by a warp or 512 threads; then an
/// element-wise kernel; then weight and bias, which loop over the images.
LaunchEstimate group_norm_backward_times(const Call& call, const Cost& cost,
                                         const DeviceSpec& device) {
  constexpr std::int64_t threads_of_block = 512, most_in_turn = 32;
  LaunchEstimate result = norm_of_groups<1, 5, 167, 5>(call, cost, device);
  if (device.is_cpu || !result || result->kernels.empty()) return result;
  const TensorSpec& in = *call.input_at(1);
  const std::int64_t all = numbers(in), bytes = all * element_bytes(in.dtype);
  const std::int64_t images = call.integer(5, 0, 1), channels = images * call.integer(6, 0, 1);
  const std::int64_t area = channels > 0 ? all / channels : 0;
  const double clocks = clocks_of(
      device, area < threads_of_block ? "group_norm_backward.warp" : "group_norm_backward.block");
  const double waits =
      static_cast<double>(channels) * clocks / std::max(device.multiprocessors, 1) +
      static_cast<double>(std::min(images, most_in_turn)) *
          clocks_of(device, "group_norm_backward.image");
  Kernel& sums = result->kernels[0];
  sums.time_class = TimeClass::reduction;
  sums.launches = 4;
  sums.work = RowWork{
      channels, area,
      std::max(2 * bytes, bytes_at_rate(device, all, "group_norm_backward.pairs_per_clock")) +
          bytes_of_clocks(device, waits)};
  result->kernels.push_back(
      {TimeClass::elementwise,
       StreamWork{std::max(
           3 * bytes, bytes_at_rate(device, all, "group_norm_backward.gradients_per_clock"))}});
  return result;
}

/// True if channels are contiguous, also in a matrix of [rows, channels] (batch_norm_choose_impl in
/// native/cuda/Normalization.cu).
bool lies_channels_last(const TensorSpec& tensor) {
  return tensor.strides.size() > 1 && tensor.sizes[1] > 1 && tensor.strides[1] == 1;
}

/// A row is a channel's elements in `tensors` tensors; in channels-last layout, elements are read
/// in any order.
LaunchEstimate norm_of_channels(const Call& call, const Cost& cost, int input, int tensors,
                                double passes, int launches, TimeClass rows,
                                TimeClass channels_last) {
  const TensorSpec* in = call.input_at(input);
  if (!in || in->sizes.size() < 2) return std::nullopt;
  if (lies_channels_last(*in)) return moved(cost, channels_last, passes, launches);
  const std::int64_t channels = in->sizes[1];
  return by_rows(cost, rows, channels, channels > 0 ? tensors * numbers(*in) / channels : 0, passes,
                 launches);
}

// PyTorch's own batch norm (native/cuda/Normalization.cu) first sums up each channel. In a
// contiguous layout one block of 512 threads sums a channel, several images at once if they fit; in
// channels-last layout 128 blocks of 16 rows each sum 32 channels. A multiprocessor takes `number`
// clocks for an element, and waits `turn` clocks for each iteration of a channel's threads
// (`turn_in_cache` if L2 has the operands).

struct ClocksOfSums {
  double number, turn, turn_in_cache;
};

/// The clocks for channels-last layout.
ClocksOfSums clocks_of_last(const TensorSpec& in, bool is_backward, const DeviceSpec& device) {
  const auto clocks = [&](std::string_view forward, std::string_view backward) {
    return clocks_of(device, is_backward ? backward : forward);
  };
  const double turn = clocks("batch_norm.last_turn", "batch_norm_backward.last_turn");
  if (element_bytes(in.dtype) >= 4)
    return {clocks("batch_norm.last_number", "batch_norm_backward.last_number"), turn, turn};
  return {clocks("batch_norm.last_half_number", "batch_norm_backward.last_number"),
          clocks("batch_norm.last_half_turn", "batch_norm_backward.last_half_turn"),
          clocks("batch_norm.last_half_cached_turn", "batch_norm_backward.last_half_cached_turn")};
}

ClocksOfSums clocks_of_sums(const TensorSpec& in, bool is_backward, const DeviceSpec& device) {
  constexpr std::int64_t small_area = 64;
  if (lies_channels_last(in)) return clocks_of_last(in, is_backward, device);
  const double turn =
      clocks_of(device, is_backward ? "batch_norm_backward.turn" : "batch_norm.turn");
  if (is_backward) return {clocks_of(device, "batch_norm_backward.number"), turn, turn};
  const std::int64_t area = numbers(in) / std::max<std::int64_t>(in.sizes[0] * in.sizes[1], 1);
  const bool is_small = area <= small_area;
  return {clocks_of(device, is_small ? "batch_norm.small_number" : "batch_norm.number"), turn,
          turn};
}

/// The time, as bytes, of the sums and of one more pass that reads and writes everything.
std::int64_t bytes_of_norm(const TensorSpec& in, bool is_backward, const DeviceSpec& device) {
  constexpr double rows_at_once = 2048, threads_of_channel = 512;
  const bool channels_last = lies_channels_last(in);
  const std::int64_t bytes = numbers(in) * element_bytes(in.dtype);
  const ClocksOfSums clocks = clocks_of_sums(in, is_backward, device);
  const bool is_in_cache = bytes * (is_backward ? 2 : 1) < device.l2_bytes.value_or(0);
  const double all = static_cast<double>(numbers(in));
  const double turns =
      all / static_cast<double>(in.sizes[1]) / (channels_last ? rows_at_once : threads_of_channel);
  const double spent = std::max(all * clocks.number / std::max(device.multiprocessors, 1),
                                turns * (is_in_cache ? clocks.turn_in_cache : clocks.turn));
  return (is_backward ? 3 : 2) * bytes + bytes_of_clocks(device, spent);
}

LaunchEstimate native_norm(const Call& call, const Cost& cost, bool is_backward,
                           const DeviceSpec& device) {
  LaunchEstimate result =
      is_backward ? norm_of_channels(call, cost, 1, 2, 1.67, 2, TimeClass::batch_norm_rows,
                                     TimeClass::batch_norm_native)
                  : norm_of_channels(call, cost, 0, 1, 1.5, 3, TimeClass::batch_norm_rows,
                                     TimeClass::batch_norm_native);
  if (device.is_cpu || !result || result->kernels.empty()) return result;
  const std::int64_t bytes =
      bytes_of_norm(*call.input_at(is_backward ? 1 : 0), is_backward, device);
  Work& work = result->kernels[0].work;
  if (auto* rows = std::get_if<RowWork>(&work)) rows->bytes = bytes;
  if (auto* stream = std::get_if<StreamWork>(&work)) stream->bytes = bytes;
  return result;
}

/// Read once for the statistics and once to apply them, or only applied with stored statistics.
LaunchEstimate batch_norm_times(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const bool training = call.integer(5, 0, call.integer(3, 0, 1)) != 0;
  return training ? native_norm(call, cost, false, device) : moved(cost, TimeClass::elementwise);
}

/// cuDNN's batch norm is one kernel that keeps on chip as much as fits.
LaunchEstimate cudnn_batch_norm_times(const Call& call, const Cost& cost, const DeviceSpec&) {
  const bool training = call.integer(5, 0, 1) != 0;
  return training ? norm_of_channels(call, cost, 0, 1, 1.5, 1, TimeClass::batch_norm,
                                     TimeClass::elementwise)
                  : moved(cost, TimeClass::elementwise);
}

/// (grad_out, input, ...)
LaunchEstimate batch_norm_backward_times(const Call& call, const Cost& cost,
                                         const DeviceSpec& device) {
  return native_norm(call, cost, true, device);
}

/// (input, grad_output, ...)
LaunchEstimate cudnn_batch_norm_backward_times(const Call& call, const Cost& cost,
                                               const DeviceSpec&) {
  return norm_of_channels(call, cost, 0, 2, 1.67, 1, TimeClass::batch_norm, TimeClass::elementwise);
}

constexpr TimeRule normalization_time_rows[] = {
    {"aten::native_layer_norm", norm_of_rows<0, 2, 100, 1>},
    {"aten::native_layer_norm_backward", norm_backward<5, 2>},
    {"aten::_fused_rms_norm", rms_norm_times},
    {"aten::_fused_rms_norm_backward", norm_backward<4, 1>},
    {"aten::native_group_norm", group_norm_times},
    {"aten::native_group_norm_backward", group_norm_backward_times},
    {"aten::native_batch_norm", batch_norm_times},
    {"aten::_native_batch_norm_legit", batch_norm_times},
    {"aten::_native_batch_norm_legit_functional", batch_norm_times},
    {"aten::_native_batch_norm_legit_no_training", moves_bytes<TimeClass::elementwise>},
    {"aten::cudnn_batch_norm", cudnn_batch_norm_times},
    {"aten::_batch_norm_with_update", cudnn_batch_norm_times},
    {"aten::_batch_norm_no_update", moves_bytes<TimeClass::elementwise>},
    {"aten::native_batch_norm_backward", batch_norm_backward_times},
    {"aten::batch_norm_backward", batch_norm_backward_times},
    {"aten::cudnn_batch_norm_backward", cudnn_batch_norm_backward_times},
};

}  // namespace

TimeRules normalization_times() {
  return {moves_bytes<TimeClass::elementwise>, normalization_time_rows};
}

}  // namespace symprof::profile
