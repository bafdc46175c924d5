// Resize as PyTorch's interpolate, and sampling by a grid. Where ONNX has more ways to round or to
// weigh than PyTorch (nearest_mode, cubic_coeff_a, exclude_outside, its antialiasing) the call is
// PyTorch's: the same shapes and cost.
#include <fmt/format.h>

#include <cmath>

#include "trace/onnx/lowering/families.h"
#include "trace/onnx/lowering/operands.h"

namespace symprof::trace::onnx {
namespace {

/// What the spatial dimensions become, and by what factor.
struct Target {
  Integers sizes;
  std::vector<std::optional<double>> scales;  ///< Empty where the file gives sizes.
};

/// Places the values of the axes that the node names into a list over all dimensions.
template <class T>
std::vector<T> over_all_axes(const OnnxCall& call, const std::vector<T>& given,
                             std::vector<T> otherwise) {
  const auto rank = static_cast<std::int64_t>(otherwise.size());
  const auto axes = call.integers("axes");
  const std::size_t wanted = axes ? axes->size() : otherwise.size();
  if (given.size() != wanted)
    call.fail(fmt::format("{} scales or sizes for {} axes", given.size(), wanted));
  for (std::size_t i = 0; i < given.size(); ++i)
    otherwise[axes ? static_cast<std::size_t>(checked_axis(call, (*axes)[i], rank)) : i] = given[i];
  return otherwise;
}

Target read_target(const OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const auto rank = static_cast<std::size_t>(x.dim());
  Target target;
  Integers sizes(x.sizes().begin(), x.sizes().end());
  if (call.has(3) && call.input(3).numel() > 0) {
    sizes = over_all_axes(call, call.integers_of(3), sizes);
    target.scales.resize(rank - 2);
  } else {
    const auto scales = over_all_axes(call, call.reals_of(2), std::vector<double>(rank, 1.0));
    for (std::size_t i = 0; i < rank; ++i)
      sizes[i] = static_cast<std::int64_t>(std::floor(static_cast<double>(sizes[i]) * scales[i]));
    target.scales.assign(scales.begin() + 2, scales.end());
  }
  if (sizes[0] != x.size(0) || sizes[1] != x.size(1))
    call.fail("batch or channels are resized", "Wanted: new sizes of the spatial dimensions only.");
  target.sizes.assign(sizes.begin() + 2, sizes.end());
  return target;
}

/// Of asymmetric coordinates, rounded down.
at::Tensor nearest_below(const at::Tensor& x, const Target& to) {
  const auto& s = to.scales;
  switch (x.dim()) {
    case 3:
      return at::upsample_nearest1d(x, to.sizes, s[0]);
    case 4:
      return at::upsample_nearest2d(x, to.sizes, s[0], s[1]);
    default:
      return at::upsample_nearest3d(x, to.sizes, s[0], s[1], s[2]);
  }
}

/// Which element is nearest: PyTorch's "nearest" rounds down asymmetric coordinates, its
/// "nearest-exact" rounds half-pixel ones (aten/src/ATen/native/UpSample.h).
at::Tensor nearest(const OnnxCall& call, const at::Tensor& x, const Target& to) {
  const std::string coordinates = call.text("coordinate_transformation_mode", "half_pixel");
  const auto& s = to.scales;
  if (coordinates == "asymmetric" || to.sizes == Integers(x.sizes().begin() + 2, x.sizes().end()))
    return nearest_below(x, to);
  if (coordinates != "half_pixel" && coordinates != "pytorch_half_pixel")
    call.fail("nearest with the coordinates '" + coordinates + "'",
              "Wanted: asymmetric or half_pixel.");
  switch (x.dim()) {
    case 3:
      return at::_upsample_nearest_exact1d(x, to.sizes, s[0]);
    case 4:
      return at::_upsample_nearest_exact2d(x, to.sizes, s[0], s[1]);
    default:
      return at::_upsample_nearest_exact3d(x, to.sizes, s[0], s[1], s[2]);
  }
}

bool aligns_corners(const OnnxCall& call) {
  const std::string coordinates = call.text("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "align_corners") return true;
  if (coordinates == "half_pixel" || coordinates == "pytorch_half_pixel") return false;
  call.fail("interpolation with the coordinates '" + coordinates + "'",
            "Wanted: half_pixel, pytorch_half_pixel or align_corners.");
}

at::Tensor linear(const OnnxCall& call, const at::Tensor& x, const Target& to) {
  const bool align = aligns_corners(call), smooth = call.is_set("antialias");
  const auto& s = to.scales;
  if (x.dim() == 4 && smooth) return at::_upsample_bilinear2d_aa(x, to.sizes, align, s[0], s[1]);
  if (smooth) call.fail("antialias with other than two spatial dimensions");
  switch (x.dim()) {
    case 3:
      return at::upsample_linear1d(x, to.sizes, align, s[0]);
    case 4:
      return at::upsample_bilinear2d(x, to.sizes, align, s[0], s[1]);
    default:
      return at::upsample_trilinear3d(x, to.sizes, align, s[0], s[1], s[2]);
  }
}

at::Tensor cubic(const OnnxCall& call, const at::Tensor& x, const Target& to) {
  const bool align = aligns_corners(call);
  if (x.dim() != 4) call.fail(fmt::format("cubic interpolation of a tensor of rank {}", x.dim()));
  if (call.is_set("antialias"))
    return at::_upsample_bicubic2d_aa(x, to.sizes, align, to.scales[0], to.scales[1]);
  return at::upsample_bicubic2d(x, to.sizes, align, to.scales[0], to.scales[1]);
}

Tensors resize(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (x.dim() < 3 || x.dim() > 5)
    call.fail(fmt::format("an input of rank {}", x.dim()), "Wanted: 3 to 5.");
  if (call.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    call.fail("keep_aspect_ratio_policy is not supported", "Wanted: stretch.");
  const Target target = read_target(call);
  const std::string mode = call.text("mode", "nearest");
  if (mode == "nearest") return {nearest(call, x, target)};
  if (mode == "linear") return {linear(call, x, target)};
  if (mode == "cubic") return {cubic(call, x, target)};
  call.fail("the mode '" + mode + "'", "Wanted: nearest, linear or cubic.");
}

/// Numbers as at::native::GridSamplerInterpolation and GridSamplerPadding have them.
Tensors grid_sample(OnnxCall& call) {
  const std::string mode = call.text("mode", "linear"),
                    padding = call.text("padding_mode", "zeros");
  const std::int64_t interpolation = mode == "nearest"                      ? 1
                                     : mode == "cubic" || mode == "bicubic" ? 2
                                                                            : 0;
  const std::int64_t border = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  return {at::grid_sampler(call.input(0), call.input(1), interpolation, border,
                           call.is_set("align_corners"))};
}

/// The forerunner of Resize: scales are an attribute (opset 7) or the second input (opset 9).
Tensors upsample(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (x.dim() < 3 || x.dim() > 5)
    call.fail(fmt::format("an input of rank {}", x.dim()), "Wanted: 3 to 5.");
  const auto rank = static_cast<std::size_t>(x.dim());
  const auto scales =
      call.has(1) ? call.reals_of(1) : call.reals("scales").value_or(std::vector<double>{});
  if (scales.size() != rank) call.fail(fmt::format("{} scales for rank {}", scales.size(), rank));
  Target target;
  for (std::size_t i = 2; i < rank; ++i) {
    const double size = static_cast<double>(x.size(static_cast<std::int64_t>(i)));
    target.sizes.push_back(static_cast<std::int64_t>(std::floor(size * scales[i])));
    target.scales.emplace_back(scales[i]);
  }
  const std::string mode = call.text("mode", "nearest");
  if (mode == "nearest") return {nearest_below(x, target)};
  return {linear(call, x, target)};
}

constexpr Lowering rows[] = {
    {"onnx::GridSample", grid_sample},
    {"onnx::Resize", resize},
    {"onnx::Upsample", upsample},
};

}  // namespace

Lowerings resize_lowerings() { return rows; }

}  // namespace symprof::trace::onnx
