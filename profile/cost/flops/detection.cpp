// torchvision's operators (torchvision/csrc/ops/cuda/). A bilinear sample takes a multiply-add per
// neighbor (four), as in grid_sampler.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t flops_each_sample = 8;

/// Each bin is the mean of ratio · ratio samples. Without a ratio a region has about a sample for
/// each of its pixels (roi_align_kernel.cu: ceil(region / bins) in a bin's direction), and regions
/// are data: those of the whole image are the most.
Estimate align(const Call& call, const TensorSpec* bins, std::int64_t ratio, std::int64_t height,
               std::int64_t width) {
  if (!bins || bins->sizes.size() != 4) return std::nullopt;
  const auto samples = [&](std::int64_t pixels, std::int64_t parts) -> std::int64_t {
    return ratio > 0 ? ratio : parts < 1 ? 0 : (pixels + parts - 1) / parts;
  };
  return streaming(call,
                   {.other = flops_each_sample * elements(*bins) * samples(height, bins->sizes[2]) *
                             samples(width, bins->sizes[3])});
}

/// The same, of the images [N, C, height, width] that go in.
Estimate align_images(const Call& call, std::int64_t ratio) {
  const TensorSpec* images = call.input_at(0);
  if (!images || images->sizes.size() != 4) return std::nullopt;
  return align(call, call.output(0), ratio, images->sizes[2], images->sizes[3]);
}

/// (input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, …)
Estimate roi_align(const Call& call) { return align_images(call, call.integer(5, 0, 0)); }
/// (grad, rois, spatial_scale, pooled_height, pooled_width, N, C, H, W, sampling_ratio, aligned)
Estimate roi_align_backward(const Call& call) {
  return align(call, call.input_at(0), call.integer(9, 0, 0), call.integer(7, 0, 0),
               call.integer(8, 0, 0));
}
/// (grad, rois, channel_mapping, spatial_scale, pooled_height, pooled_width, sampling_ratio,
/// batch_size, channels, height, width)
Estimate ps_roi_align_backward(const Call& call) {
  return align(call, call.input_at(0), call.integer(6, 0, 0), call.integer(9, 0, 0),
               call.integer(10, 0, 0));
}

/// For each pair of n boxes: the intersection (7 FLOPs), both areas and the IoU (6).
Estimate nms(const Call& call) {
  const TensorSpec* boxes = call.input_at(0);
  if (!boxes || boxes->sizes.empty()) return std::nullopt;
  constexpr std::int64_t flops_each_pair = 13;
  const std::int64_t n = boxes->sizes[0];
  const std::int64_t pairs = n < 2 ? 0 : (Count(n) * (n - 1)).value() / 2;
  return streaming(call, {.other = Count(pairs) * flops_each_pair});
}

/// A deformable convolution: input [N, C, H, W], weight [M, C / groups, height, width], `output`
/// [N, M, windows]. Columns are sampled, then multiplied.
struct Deformed {
  Count product, samples;
};

std::optional<Deformed> deformed(const TensorSpec* input, const TensorSpec* weight,
                                 const TensorSpec* output) {
  for (const TensorSpec* tensor : {input, weight, output})
    if (!tensor || tensor->sizes.size() != 4) return std::nullopt;
  const Count kernel = Count(weight->sizes[2]) * weight->sizes[3];
  const Count windows = Count(output->sizes[0]) * output->sizes[2] * output->sizes[3];
  return Deformed{.product = 2 * elements(*output) * weight->sizes[1] * kernel,
                  .samples = windows * input->sizes[1] * kernel};
}

/// (input, weight, offset, mask, bias, …)
Estimate deform_conv2d(const Call& call) {
  const auto work = deformed(call.input_at(0), call.input_at(1), call.output(0));
  if (!work) return std::nullopt;
  return streaming(call, {.product = work->product, .other = flops_each_sample * work->samples});
}

/// (grad, input, weight, offset, mask, bias, …): the column gradient, propagated to input, offsets
/// and mask, and the weight gradient, for which columns are sampled again.
Estimate deform_conv2d_backward(const Call& call) {
  const auto work = deformed(call.input_at(1), call.input_at(2), call.input_at(0));
  if (!work) return std::nullopt;
  return streaming(call,
                   {.product = 2 * work->product, .other = 3 * flops_each_sample * work->samples});
}

constexpr Rule detection_rows[] = {
    {"torchvision::nms", nms, modelled},
    {"torchvision::roi_align", roi_align, modelled},
    {"torchvision::_roi_align_backward", roi_align_backward, modelled},
    {"torchvision::ps_roi_align", roi_align, modelled},
    {"torchvision::_ps_roi_align_backward", ps_roi_align_backward, modelled},
    // Each element of a region is compared once.
    {"torchvision::roi_pool", per_input<1>, modelled},
    {"torchvision::_roi_pool_backward", per_input<1>, modelled},
    {"torchvision::ps_roi_pool", per_input<1>, modelled},
    {"torchvision::_ps_roi_pool_backward", per_input<1>, modelled},
    {"torchvision::deform_conv2d", deform_conv2d, modelled},
    {"torchvision::_deform_conv2d_backward", deform_conv2d_backward, modelled},
};

}  // namespace

Rules detection_rules() { return detection_rows; }

}  // namespace symprof::profile
