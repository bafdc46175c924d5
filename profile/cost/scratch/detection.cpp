// torchvision's operators. Sources: torchvision/csrc/ops/cuda/{nms_kernel,deform_conv2d_kernel}.cu.
#include "base/checked.h"
#include "base/rounding.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/precision.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t boxes_each_word = 64;

/// The boxes sorted by score, and one bit per pair.
Scratch nms(const Call& call, const DeviceSpec&) {
  const TensorSpec *boxes = call.input_at(0), *scores = call.input_at(1);
  if (boxes == nullptr || scores == nullptr || boxes->sizes.empty()) return {.is_incomplete = true};
  const std::int64_t n = boxes->sizes[0];
  Scratch result;
  result.take(scores->bytes());  // Sorted scores, besides their indices.
  result.take(Count(n) * long_bytes);
  result.take(boxes->bytes());
  result.take(Count(n) * divide_up(n, boxes_each_word) * long_bytes);
  result.make_outputs();
  return result;
}

/// The largest divisor of the batch size that is at most 32 (get_greatest_divisor_below_bound).
std::int64_t images_at_once(std::int64_t batch) {
  constexpr std::int64_t most = 32;
  for (std::int64_t count = most; count > 1; --count)
    if (batch % count == 0) return count;
  return 1;
}

/// (input, weight, offset, mask, bias, …): the result twice before the bias is added, and the
/// columns of images_at_once() images.
Scratch deform_conv2d(const Call& call, const DeviceSpec&) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1), *out = call.output(0);
  if (input == nullptr || weight == nullptr || out == nullptr || out->sizes.size() != 4)
    return {.is_incomplete = true};
  const Count rows = Count(input->sizes[1]) * weight->sizes[2] * weight->sizes[3];
  Scratch result{.uses_cublas = true};
  for (int i = 0; i < 2; ++i) result.take(out->bytes());
  result.take(rows * images_at_once(input->sizes[0]) * out->sizes[2] * out->sizes[3] *
              element_bytes(input->dtype));
  result.make_outputs();
  return result;
}

constexpr ScratchRule detection_rows[] = {
    {"torchvision::nms", nms},
    {"torchvision::deform_conv2d", deform_conv2d},
    {"torchvision::_deform_conv2d_backward", unknown_scratch},
};

}  // namespace

ScratchRules detection_scratch() { return detection_rows; }

}  // namespace symprof::profile
