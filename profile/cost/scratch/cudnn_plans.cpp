#include "profile/cost/scratch/cudnn_plans.h"

#include <functional>
#include <numeric>

#include "base/checked.h"
#include "profile/cost/scratch/precision.h"

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

}  // namespace symprof::profile
