// Operators of the package torchvision: region pooling, NMS, deformable convolution
// (torchvision/csrc/ops/: cuda/, autograd/). Its Python shape functions give the same shapes.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <string>

#include "meta/kernels/allocation.h"
#include "meta/kernels/package_operators.h"
#include "meta/kernels/torchvision_autograd.h"
#include "meta/kernels/unbacked_size.h"

namespace symprof::kernels {
namespace torchvision {
namespace {

using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

void check_regions(const Tensor& input, const Tensor& regions, const char* op) {
  TORCH_CHECK(input.dim() == 4 && regions.dim() == 2 && regions.size(1) == 5, op, ": found [",
              input.sizes(), "] and regions [", regions.sizes(),
              "], wanted images and [regions, 5]");
}

/// The indices of the kept boxes of [n, 4], at most n.
Tensor nms(const Tensor& boxes, const Tensor& scores, double) {
  TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4 && scores.dim() == 1 &&
                  scores.size(0) == boxes.size(0),
              "nms: found boxes [", boxes.sizes(), "] and scores [", scores.sizes(),
              "], wanted [n, 4] and [n]");
  return fresh({unbacked_size("torchvision::nms", boxes.size(0))}, boxes, at::kLong);
}

Tensor of_regions(const Tensor& input, const Tensor& regions, int64_t height, int64_t width) {
  return fresh({regions.size(0), input.size(1), height, width}, input);
}

Tensor roi_align(const Tensor& input, const Tensor& regions, double, int64_t height, int64_t width,
                 int64_t, bool) {
  check_regions(input, regions, "roi_align");
  return of_regions(input, regions, height, width);
}

Tensor roi_align_backward(const Tensor& grad, const Tensor&, double, int64_t, int64_t, int64_t n,
                          int64_t channels, int64_t height, int64_t width, int64_t, bool) {
  return fresh({n, channels, height, width}, grad);
}

/// Returns the maxima and the index of each.
Two roi_pool(const Tensor& input, const Tensor& regions, double, int64_t height, int64_t width) {
  check_regions(input, regions, "roi_pool");
  const Tensor output = of_regions(input, regions, height, width);
  return {output, fresh(output.sizes(), input, at::kInt)};
}

Tensor region_backward(const Tensor& grad, const Tensor&, const Tensor&, double, int64_t, int64_t,
                       int64_t n, int64_t channels, int64_t height, int64_t width) {
  return fresh({n, channels, height, width}, grad);
}

/// Each bin has its own channels; returns the output and the channel of each element.
Two position_sensitive(const Tensor& input, const Tensor& regions, int64_t height, int64_t width) {
  check_regions(input, regions, "ps_roi");
  TORCH_CHECK(height * width > 0 && input.size(1) % (height * width) == 0, "ps_roi: found ",
              input.size(1), " channels, wanted a multiple of ", height * width);
  const Tensor output =
      fresh({regions.size(0), input.size(1) / (height * width), height, width}, input);
  return {output, fresh(output.sizes(), input, at::kInt)};
}

Two ps_roi_align(const Tensor& input, const Tensor& regions, double, int64_t height, int64_t width,
                 int64_t) {
  return position_sensitive(input, regions, height, width);
}

Two ps_roi_pool(const Tensor& input, const Tensor& regions, double, int64_t height, int64_t width) {
  return position_sensitive(input, regions, height, width);
}

Tensor ps_roi_align_backward(const Tensor& grad, const Tensor&, const Tensor&, double, int64_t,
                             int64_t, int64_t, int64_t n, int64_t channels, int64_t height,
                             int64_t width) {
  return fresh({n, channels, height, width}, grad);
}

int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

Tensor deform_conv2d(const Tensor& input, const Tensor& weight, const Tensor&, const Tensor&,
                     const Tensor&, int64_t stride_h, int64_t stride_w, int64_t pad_h,
                     int64_t pad_w, int64_t dilation_h, int64_t dilation_w, int64_t, int64_t,
                     bool) {
  TORCH_CHECK(input.dim() == 4 && weight.dim() == 4 && stride_h > 0 && stride_w > 0,
              "deform_conv2d: found [", input.sizes(), "] and the weight [", weight.sizes(),
              "], wanted four dimensions each");
  return fresh({input.size(0), weight.size(0),
                windows(input.size(2), weight.size(2), stride_h, pad_h, dilation_h),
                windows(input.size(3), weight.size(3), stride_w, pad_w, dilation_w)},
               input);
}

Five deform_conv2d_backward(const Tensor&, const Tensor& input, const Tensor& weight,
                            const Tensor& offset, const Tensor& mask, const Tensor& bias, int64_t,
                            int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool) {
  return {contiguous_like(input), contiguous_like(weight), contiguous_like(offset),
          contiguous_like(mask), contiguous_like(bias)};
}

const std::string region = "Tensor rois, float spatial_scale, int pooled_height, int pooled_width";
const std::string image = ", int batch_size, int channels, int height, int width";
const std::string deformed =
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, "
    "int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, "
    "int offset_groups, bool use_mask)";
const std::string region_gradient = "(Tensor grad, Tensor rois, Tensor ";
const std::string bins = ", float spatial_scale, int pooled_height, int pooled_width";

void define_schemas(torch::Library& library) {
  for (const std::string& schema :
       {std::string("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"),
        "roi_align(Tensor input, " + region + ", int sampling_ratio, bool aligned) -> Tensor",
        "_roi_align_backward(Tensor grad, " + region + image +
            ", int sampling_ratio, bool aligned) -> Tensor",
        "roi_pool(Tensor input, " + region + ") -> (Tensor, Tensor)",
        "_roi_pool_backward" + region_gradient + "argmax" + bins + image + ") -> Tensor",
        "ps_roi_align(Tensor input, " + region + ", int sampling_ratio) -> (Tensor, Tensor)",
        "_ps_roi_align_backward" + region_gradient + "channel_mapping" + bins +
            ", int sampling_ratio" + image + ") -> Tensor",
        "ps_roi_pool(Tensor input, " + region + ") -> (Tensor, Tensor)",
        "_ps_roi_pool_backward" + region_gradient + "channel_mapping" + bins + image +
            ") -> Tensor",
        "deform_conv2d(" + deformed + " -> Tensor",
        "_deform_conv2d_backward(Tensor grad, " + deformed +
            " -> (Tensor, Tensor, Tensor, Tensor, Tensor)"})
    library.def(schema.c_str());
}

}  // namespace
}  // namespace torchvision

std::vector<torch::Library> define_torchvision() {
  using namespace torchvision;
  std::vector<torch::Library> libraries;
  libraries.push_back(library_of("torchvision", torch::Library::FRAGMENT));
  define_schemas(libraries.back());
  libraries.push_back(library_of("torchvision", torch::Library::IMPL, c10::DispatchKey::Meta));
  torch::Library& shapes = libraries.back();
  shapes.impl("nms", &nms);
  shapes.impl("roi_align", &roi_align);
  shapes.impl("_roi_align_backward", &roi_align_backward);
  shapes.impl("roi_pool", &roi_pool);
  shapes.impl("_roi_pool_backward", &region_backward);
  shapes.impl("ps_roi_align", &ps_roi_align);
  shapes.impl("_ps_roi_align_backward", &ps_roi_align_backward);
  shapes.impl("ps_roi_pool", &ps_roi_pool);
  shapes.impl("_ps_roi_pool_backward", &region_backward);
  shapes.impl("deform_conv2d", &deform_conv2d);
  shapes.impl("_deform_conv2d_backward", &deform_conv2d_backward);
  libraries.push_back(library_of("torchvision", torch::Library::IMPL, c10::DispatchKey::Autograd));
  register_torchvision_autograd(libraries.back());
  return libraries;
}

}  // namespace symprof::kernels
