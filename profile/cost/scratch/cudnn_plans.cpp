#include "profile/cost/scratch/cudnn_plans.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/checked.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {
namespace {

std::int64_t places(const TensorSpec& tensor) {
  return std::accumulate(tensor.sizes.begin() + 2, tensor.sizes.end(), std::int64_t{1},
                         std::multiplies<>());
}

/// Bytes with the second dimension, the channels, rounded up. Only half precision needs that.
Count padded_bytes(const TensorSpec& tensor) {
  constexpr std::int64_t lanes = 8;
  const std::int64_t channels = tensor.sizes[1];
  const std::int64_t padded =
      is_half(tensor.dtype) ? (channels + lanes - 1) / lanes * lanes : channels;
  return Count(tensor.sizes[0]) * padded * places(tensor) * element_bytes(tensor.dtype);
}

/// What each plan of fused attention takes, whatever it computes.
constexpr std::int64_t attention_bytes = 256;

bool has_seen(const AttentionSizes& sizes, const DeviceSpec& device) {
  constexpr std::int64_t widest = 128;
  return device.cudnn_copies_operands && std::max(sizes.width, sizes.value_width) <= widest;
}

}  // namespace

std::int64_t plan_workspace_bytes(const TensorSpec& input, const TensorSpec& weight,
                                  const TensorSpec& output, bool channels_last, std::int64_t groups,
                                  const DeviceSpec& device) {
  if (!device.cudnn_copies_operands || groups != 1) return 0;
  const Count operands = padded_bytes(input) + (places(weight) > 1 ? padded_bytes(weight) : 0);
  constexpr std::int64_t aligned_bytes = 16;
  if (channels_last)
    return input.sizes[1] * element_bytes(input.dtype) % aligned_bytes == 0 ? 0 : operands.value();
  const bool is_product = places(weight) == 1 && places(input) == places(output);
  return is_product ? 0 : (operands + output.bytes()).value();
}

std::optional<std::int64_t> attention_workspace_bytes(const AttentionSizes& sizes,
                                                      const DeviceSpec& device) {
  if (!has_seen(sizes, device)) return std::nullopt;
  return attention_bytes;
}

std::optional<std::int64_t> attention_backward_workspace_bytes(const AttentionSizes& sizes,
                                                               std::int64_t element_bytes,
                                                               const DeviceSpec& device) {
  if (!has_seen(sizes, device)) return std::nullopt;
  const Count heads = Count(sizes.batch) * sizes.heads;
  Count total = heads * sizes.length * (sizes.width + 1) * float_bytes + attention_bytes;
  if (sizes.key_heads != sizes.heads)
    total += heads * sizes.key_length * (sizes.width + sizes.value_width) * element_bytes;
  return total.value();
}

}  // namespace symprof::profile
