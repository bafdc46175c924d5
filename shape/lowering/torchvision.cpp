// Operators of torchvision that LibTorch lacks, in the steps of torchvision's kernels
// (torchvision/csrc/ops): sample, weight, then multiply or average.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/windows.h"

namespace symprof::lowering {
namespace {

/// begin + i · step for i < count, on the device and with the dtype of `like`.
at::Tensor positions(std::int64_t count, double begin, double step, const at::Tensor& like) {
  return at::add(at::mul(at::arange(count, like.options()), step), begin);
}

/// A convolution whose elements are read at positions shifted by `offset`: [N, groups · K · 2,
/// windows …]; for each kernel element first the vertical, then the horizontal shift.
struct Deformation {
  at::Tensor x, offset, mask;  ///< `mask` may be undefined.
  Window window;
  std::int64_t groups = 1;

  std::int64_t kernel_elements() const { return window.kernel[0] * window.kernel[1]; }
  std::int64_t height() const { return offset.size(2); }
  std::int64_t width() const { return offset.size(3); }
};

/// The read positions in dimension `i`, from -1 (begin of the image) to 1 (end): [N, groups, kernel
/// height, kernel width, windows …].
at::Tensor read_positions(const Deformation& d, std::size_t i) {
  const std::int64_t rows = d.window.kernel[0], columns = d.window.kernel[1];
  const at::Tensor shift =
      d.offset.reshape({d.x.size(0), d.groups, rows, columns, 2, d.height(), d.width()})
          .select(4, static_cast<std::int64_t>(i));
  const auto dilation = static_cast<double>(d.window.dilations[i]);
  const auto stride = static_cast<double>(d.window.strides[i]);
  const at::Tensor in_kernel =
      positions(d.window.kernel[i], -static_cast<double>(d.window.begins[i]), dilation, d.offset)
          .reshape(i == 0 ? Integers{rows, 1, 1, 1} : Integers{1, columns, 1, 1});
  const at::Tensor windows =
      positions(i == 0 ? d.height() : d.width(), 0, stride, d.offset)
          .reshape(i == 0 ? Integers{d.height(), 1} : Integers{1, d.width()});
  const at::Tensor at = at::add(shift, at::add(in_kernel, windows));
  const auto size = static_cast<double>(d.x.size(static_cast<std::int64_t>(i) + 2));
  return at::add(at::mul(at, 2 / size), 1 / size - 1);
}

/// The columns multiplied by the weights: [N, channels · K, windows].
at::Tensor deformed_columns(const Deformation& d) {
  const std::int64_t n = d.x.size(0), channels = d.x.size(1), elements = d.kernel_elements();
  const at::Tensor grid = at::stack({read_positions(d, 1), read_positions(d, 0)}, -1)
                              .reshape({n * d.groups, elements * d.height(), d.width(), 2});
  const at::Tensor images =
      d.x.reshape({n * d.groups, channels / d.groups, d.x.size(2), d.x.size(3)});
  at::Tensor samples = at::grid_sampler(images, grid, /*bilinear*/ 0, /*zeros*/ 0, false);
  if (d.mask.defined())
    samples = at::mul(samples, d.mask.reshape({n * d.groups, 1, elements * d.height(), d.width()}));
  return samples.reshape({n, channels * elements, d.height() * d.width()});
}

/// x [N, C, H, W], weight [M, C / group, K, K].
Tensors deformable_convolution(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor weight = to_device_of(call.input(1), x);
  if (x.dim() != 4 || weight.dim() != 4)
    call.fail(fmt::format("an input of rank {} and a weight of rank {}", x.dim(), weight.dim()),
              "Wanted: two spatial dimensions.");
  Deformation d{.x = x, .offset = to_device_of(call.input(2), x), .mask = {}, .window = {}};
  d.window =
      read_window(call, Integers(weight.sizes().begin() + 2, weight.sizes().end()), x.sizes());
  d.groups = call.integer("offset_group", 1);
  if (call.has(4)) d.mask = to_device_of(call.input(4), x);
  const std::int64_t n = x.size(0), group = call.integer("group", 1), m = weight.size(0);
  if (group < 1 || group > m || d.groups < 1 || d.groups > x.size(1) || d.offset.dim() != 4 ||
      m % group != 0 || x.size(1) != weight.size(1) * group || x.size(1) % d.groups != 0 ||
      d.offset.size(1) != 2 * d.groups * d.kernel_elements())
    call.fail(fmt::format("[{}] with the weight [{}], {} groups, the offset [{}] of {} groups",
                          fmt::join(x.sizes(), ", "), fmt::join(weight.sizes(), ", "), group,
                          fmt::join(d.offset.sizes(), ", "), d.groups));
  const at::Tensor columns = deformed_columns(d).reshape({n, group, -1, d.height() * d.width()});
  at::Tensor y = at::matmul(weight.reshape({group, m / group, -1}), columns)
                     .reshape({n, m, d.height(), d.width()});
  if (call.has(3)) y = at::add(y, to_device_of(call.input(3), x).reshape({1, m, 1, 1}));
  return {y};
}

/// Along one axis of the image: the two neighbors of each sample and their weights. [regions,
/// samples]; samples outside the image have zero weight.
struct Neighbors {
  at::Tensor low, high, low_share, high_share;
};

Neighbors neighbors(const at::Tensor& at, std::int64_t size) {
  const at::Tensor inside =
      at::logical_and(at::ge(at, -1), at::le(at, size)).to(at.device(), at.scalar_type());
  const at::Tensor place = at::clamp(at, 0, size - 1);
  const at::Tensor below = at::floor(place);
  const at::Tensor part = at::sub(place, below);
  const at::Tensor low = below.to(at.device(), at::kLong);
  return {low, at::clamp_max(at::add(low, 1), size - 1), at::mul(at::rsub(part, 1), inside),
          at::mul(part, inside)};
}

/// The four neighbors of each sample times their weights, [regions, y, x, channels].
Tensors weighted_corners(const at::Tensor& x, const at::Tensor& image, const Neighbors& y_axis,
                         const Neighbors& x_axis) {
  const at::Tensor pixels = x.permute({0, 2, 3, 1}), which = image.reshape({-1, 1, 1});
  Tensors corners;
  for (const bool lower : {false, true})
    for (const bool right : {false, true}) {
      const at::Tensor& row = lower ? y_axis.high : y_axis.low;
      const at::Tensor& column = right ? x_axis.high : x_axis.low;
      const at::Tensor share = at::mul((lower ? y_axis.high_share : y_axis.low_share).unsqueeze(2),
                                       (right ? x_axis.high_share : x_axis.low_share).unsqueeze(1));
      const c10::List<std::optional<at::Tensor>> place{which, row.unsqueeze(2),
                                                       column.unsqueeze(1)};
      const at::Tensor picked = at::index(pixels, place);
      corners.push_back(at::mul(picked, share.unsqueeze(3)));
    }
  return corners;
}

/// Regions [R, 4] (left, top, right, bottom) of images [N, C, H, W] as [R, C, height, width].
Tensors roi_align(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor regions = to_device_of(call.input(1), x), image = to_device_of(call.input(2), x);
  const std::int64_t height = call.integer("output_height", 1);
  const std::int64_t width = call.integer("output_width", 1);
  const std::int64_t ratio = call.integer("sampling_ratio", 0);
  if (x.dim() != 4 || regions.dim() != 2 || regions.size(1) != 4)
    call.fail("images or regions of other shapes", "Wanted: [N, C, H, W] and [regions, 4].");
  constexpr std::int64_t most_samples = 1 << 20;  // Along one axis.
  if (ratio < 1 || height < 1 || width < 1 || ratio > most_samples ||
      std::max(height, width) > most_samples / ratio)
    call.fail(fmt::format("{} samples in each bin of {} x {}", ratio, height, width),
              "Wanted: a sampling_ratio; without one the regions' sizes, which are data, decide.");
  const std::string coordinates = call.text("coordinate_transformation_mode",
                                            call.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const bool half_pixel = coordinates == "half_pixel";
  const at::Tensor scaled =
      at::sub(at::mul(regions, call.real("spatial_scale", 1.0)), half_pixel ? 0.5 : 0.0);
  // The samples of all bins, as fractions of the region.
  const auto samples = [&](std::int64_t first, std::int64_t bins, std::int64_t size) {
    const at::Tensor begin = scaled.select(1, first).unsqueeze(1);
    at::Tensor extent = at::sub(scaled.select(1, first + 2).unsqueeze(1), begin);
    if (!half_pixel) extent = at::clamp_min(extent, 1.0);
    const auto count = static_cast<double>(bins * ratio);
    const at::Tensor parts = positions(bins * ratio, 0.5 / count, 1 / count, scaled);
    return neighbors(at::add(begin, at::mul(extent, parts)), size);
  };
  const Tensors corners =
      weighted_corners(x, image, samples(1, height, x.size(2)), samples(0, width, x.size(3)));
  const bool largest = call.text("mode", "avg") == "max";
  at::Tensor y = corners[0];
  for (std::size_t i = 1; i < corners.size(); ++i)
    y = largest ? at::maximum(y, corners[i]) : at::add(y, corners[i]);
  y = y.reshape({regions.size(0), height, ratio, width, ratio, x.size(1)});
  y = largest ? at::amax(y, {2, 4}) : at::mean(y, {2, 4});
  return {y.permute({0, 3, 1, 2})};
}

constexpr Lowering torchvision_rows[] = {
    {"onnx::DeformConv", deformable_convolution},
    {"onnx::RoiAlign", roi_align},
};

}  // namespace

Lowerings torchvision_lowerings() { return torchvision_rows; }

}  // namespace symprof::lowering
