// Resize: PyTorch's interpolate operator if it reads the same elements with the same weights, else
// axis by axis. Also grid sampling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/resize_samples.h"
#include "shape/lowering/saturate.h"

namespace symprof::lowering {
namespace {

using Axes = std::vector<ResizedAxis>;

/// Limit for the elements along one axis.
constexpr std::int64_t longest_axis = std::int64_t{1} << 24;

/// Writes the values of the node's axes into a list over all dimensions.
template <class T>
void place(const OnnxCall& call, const std::vector<T>& given, std::size_t offset,
           std::vector<T>& all) {
  const auto axes = call.integers("axes");
  const auto rank = static_cast<std::int64_t>(all.size());
  const std::size_t count = axes ? axes->size() : all.size();
  if (given.size() < offset + count)
    call.fail(fmt::format("{} scales, sizes or bounds for {} axes", given.size(), count));
  for (std::size_t i = 0; i < count; ++i)
    all[axes ? static_cast<std::size_t>(checked_axis(call, (*axes)[i], rank)) : i] =
        given[offset + i];
}

/// Reads the part of each axis that tf_crop_and_resize takes: all begins, then all ends.
void read_crop(const OnnxCall& call, Axes& axes) {
  if (!call.has(1) || call.input(1).numel() == 0) return;
  const std::vector<double> given = call.reals_of(1);
  std::vector<double> begins(axes.size(), 0.0), ends(axes.size(), 1.0);
  place(call, given, 0, begins);
  place(call, given, given.size() / 2, ends);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!std::isfinite(begins[i]) || !std::isfinite(ends[i]))
      call.fail(fmt::format("a crop from {} to {}", begins[i], ends[i]));
    axes[i].crop_begin = begins[i], axes[i].crop_end = ends[i];
  }
}

/// `size` times a factor, rounded down.
std::int64_t scaled(const OnnxCall& call, std::int64_t size, double scale, double rounding = 0) {
  const double product = static_cast<double>(size) * scale + rounding;
  if (!(product >= 0 && product <= static_cast<double>(longest_axis)))
    call.fail(fmt::format("a size of {} times {}", size, scale));
  return static_cast<std::int64_t>(std::floor(product));
}

/// Uses one factor for all axes of the node, to keep the aspect ratio; sizes are rounded.
void keep_proportions(const OnnxCall& call, const std::string& policy, Axes& axes) {
  if (policy != "not_larger" && policy != "not_smaller")
    call.fail("keep_aspect_ratio_policy '" + policy + "'",
              "Wanted: stretch, not_larger or not_smaller.");
  std::vector<int> named(axes.size(), 0);
  place(call, std::vector<int>(axes.size(), 1), 0, named);
  std::optional<double> common;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (named[i] != 0)
      common = !common                  ? axes[i].scale
               : policy == "not_larger" ? std::min(*common, axes[i].scale)
                                        : std::max(*common, axes[i].scale);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (named[i] == 0) continue;
    axes[i].scale = *common;
    axes[i].output = scaled(call, axes[i].input, *common, 0.5);
  }
}

/// Every dimension of the input with its output size. Before opset 11 the scales are the second
/// input.
Axes read_axes(const OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  Axes axes;
  for (const std::int64_t size : x.sizes()) axes.push_back({.input = size, .output = size});
  if (call.has(3) && call.input(3).numel() > 0) {
    Integers sizes(x.sizes().begin(), x.sizes().end());
    place(call, call.integers_of(3), 0, sizes);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i].output = sizes[i];
      axes[i].scale = static_cast<double>(sizes[i]) /
                      static_cast<double>(std::max<std::int64_t>(axes[i].input, 1));
    }
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") keep_proportions(call, policy, axes);
  } else {
    std::vector<double> scales(axes.size(), 1.0);
    place(call, call.reals_of(call.opset() < 11 ? 1 : 2), 0, scales);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i].scale = scales[i];
      axes[i].output = scaled(call, axes[i].input, scales[i]);
    }
  }
  for (const ResizedAxis& axis : axes)
    if (axis.input > 0 ? axis.output < 1 || axis.output > longest_axis || axis.input > longest_axis
                       : axis.output != 0)
      call.fail(fmt::format("a size of {} becomes {}", axis.input, axis.output));
  if (call.opset() >= 11) read_crop(call, axes);
  return axes;
}

Resampling read_resampling(const OnnxCall& call) {
  Resampling resampling;
  resampling.mode = call.text("mode", "nearest");
  if (resampling.mode != "nearest" && resampling.mode != "linear" && resampling.mode != "cubic")
    call.fail("the mode '" + resampling.mode + "'", "Wanted: nearest, linear or cubic.");
  const bool oldest = call.opset() < 11;
  resampling.coordinates =
      call.text("coordinate_transformation_mode", oldest ? "asymmetric" : "half_pixel");
  resampling.nearest_mode = call.text("nearest_mode", oldest ? "floor" : "round_prefer_floor");
  resampling.cubic_coefficient = call.real("cubic_coeff_a", -0.75);
  resampling.antialias = call.is_set("antialias");
  resampling.exclude_outside = call.is_set("exclude_outside");
  return resampling;
}

/// The sizes and factors that PyTorch's operator takes for the spatial dimensions.
struct Target {
  Integers sizes;
  std::vector<std::optional<double>> scales;  ///< Empty: computed from the sizes.
};

at::Tensor nearest(const at::Tensor& x, const Target& to) {
  const auto& s = to.scales;
  if (x.dim() == 3) return at::upsample_nearest1d(x, to.sizes, s[0]);
  if (x.dim() == 4) return at::upsample_nearest2d(x, to.sizes, s[0], s[1]);
  return at::upsample_nearest3d(x, to.sizes, s[0], s[1], s[2]);
}

at::Tensor nearest_exact(const at::Tensor& x, const Target& to) {
  const auto& s = to.scales;
  if (x.dim() == 3) return at::_upsample_nearest_exact1d(x, to.sizes, s[0]);
  if (x.dim() == 4) return at::_upsample_nearest_exact2d(x, to.sizes, s[0], s[1]);
  return at::_upsample_nearest_exact3d(x, to.sizes, s[0], s[1], s[2]);
}

template <bool align>
at::Tensor linear(const at::Tensor& x, const Target& to) {
  const auto& s = to.scales;
  if (x.dim() == 3) return at::upsample_linear1d(x, to.sizes, align, s[0]);
  if (x.dim() == 4) return at::upsample_bilinear2d(x, to.sizes, align, s[0], s[1]);
  return at::upsample_trilinear3d(x, to.sizes, align, s[0], s[1], s[2]);
}

template <bool align>
at::Tensor cubic(const at::Tensor& x, const Target& to) {
  return at::upsample_bicubic2d(x, to.sizes, align, to.scales[0], to.scales[1]);
}

at::Tensor linear_smooth(const at::Tensor& x, const Target& to) {
  return at::_upsample_bilinear2d_aa(x, to.sizes, false, to.scales[0], to.scales[1]);
}

at::Tensor cubic_smooth(const at::Tensor& x, const Target& to) {
  return at::_upsample_bicubic2d_aa(x, to.sizes, false, to.scales[0], to.scales[1]);
}

/// A PyTorch operator described in ONNX's terms (aten/src/ATen/native/UpSample.h, and for
/// antialiasing UpSampleKernel.cpp).
struct Upsampling {
  Resampling resampling;
  at::Tensor (*run)(const at::Tensor&, const Target&);
  bool only_images = false;
};

const std::vector<Upsampling>& upsamplings() {
  static const std::vector<Upsampling> all = {
      {{"nearest", "asymmetric", "floor"}, nearest},
      {{"nearest", "half_pixel", "round_prefer_ceil"}, nearest_exact},
      {{"linear", "half_pixel"}, linear<false>},
      {{"linear", "align_corners"}, linear<true>},
      {{"cubic", "half_pixel"}, cubic<false>, true},
      {{"cubic", "align_corners"}, cubic<true>, true},
      {{"linear", "half_pixel", "", -0.75, true, true}, linear_smooth, true},
      {{"cubic", "half_pixel", "", -0.5, true, true}, cubic_smooth, true},
  };
  return all;
}

/// True if PyTorch's operator samples every axis as the node does. Its aligned corners depend on
/// the sizes only, not on the factors.
bool fits(const Upsampling& upsampling, const Resampling& wanted, const Axes& axes) {
  const Resampling& own = upsampling.resampling;
  if (own.mode != wanted.mode || own.antialias != wanted.antialias) return false;
  if (upsampling.only_images && axes.size() != 4) return false;
  return std::all_of(axes.begin() + 2, axes.end(), [&](const ResizedAxis& axis) {
    ResizedAxis as_pytorch = axis;
    if (own.coordinates == "align_corners")
      as_pytorch.scale = static_cast<double>(axis.output) / static_cast<double>(axis.input);
    return same_samples(axis_samples(own, as_pytorch), axis_samples(wanted, axis));
  });
}

/// Undefined if PyTorch has no matching operator. Among several matches, the operator with the
/// node's coordinates is taken.
at::Tensor resize_by_pytorch(const at::Tensor& x, const Resampling& wanted, const Axes& axes) {
  const auto stays = [](const ResizedAxis& axis) { return axis.input == axis.output; };
  if (x.dim() < 3 || x.dim() > 5 || !stays(axes[0]) || !stays(axes[1])) return {};
  if (!x.is_floating_point() && x.scalar_type() != at::kByte) return {};
  Target target;
  for (std::size_t i = 2; i < axes.size(); ++i) {
    const ResizedAxis& axis = axes[i];
    const double quotient = static_cast<double>(axis.output) / static_cast<double>(axis.input);
    target.sizes.push_back(axis.output);
    target.scales.push_back(axis.scale == quotient ? std::nullopt : std::optional(axis.scale));
  }
  for (const bool same_coordinates : {true, false})
    for (const Upsampling& upsampling : upsamplings())
      if ((upsampling.resampling.coordinates == wanted.coordinates) == same_coordinates &&
          fits(upsampling, wanted, axes))
        return upsampling.run(x, target);
  return {};
}

/// Gathers the input elements of each output element and sums them with their weights.
at::Tensor resize_axis(const OnnxCall& call, const at::Tensor& x, std::int64_t dim,
                       const AxisSamples& samples) {
  const auto output = static_cast<std::int64_t>(samples.extrapolated.size());
  at::Tensor y = at::index_select(x, dim, to_device_of(host_integers(samples.indices), x));
  if (samples.taps > 1) {
    Integers sizes(static_cast<std::size_t>(x.dim()) + 1, 1);
    sizes[static_cast<std::size_t>(dim)] = output,
    sizes[static_cast<std::size_t>(dim) + 1] = samples.taps;
    const at::Tensor weights = at::tensor(samples.weights, host_options(x.scalar_type()));
    y = y.unflatten(dim, {output, samples.taps});
    y = at::sum(at::mul(y, to_device_of(weights, x).reshape(sizes)), dim + 1);
  }
  if (std::find(samples.extrapolated.begin(), samples.extrapolated.end(), true) ==
      samples.extrapolated.end())
    return y;
  const Integers outside(samples.extrapolated.begin(), samples.extrapolated.end());
  Integers sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[static_cast<std::size_t>(dim)] = output;
  const at::Tensor mask = to_device_of(host_integers(outside).to(at::kBool), x).reshape(sizes);
  return at::masked_fill(y, mask, call.real("extrapolation_value", 0.0));
}

/// Resizes axis by axis: every mode is separable.
at::Tensor resize_by_axis(const OnnxCall& call, const at::Tensor& x, const Resampling& resampling,
                          const Axes& axes) {
  const bool in_float = resampling.mode != "nearest" && !x.is_floating_point();
  at::Tensor y = in_float ? x.to(x.device(), at::kFloat) : x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const ResizedAxis& axis = axes[i];
    const bool whole = axis.crop_begin == 0.0 && axis.crop_end == 1.0;
    if (axis.input == axis.output && axis.scale == 1.0 && whole) continue;
    y = resize_axis(call, y, static_cast<std::int64_t>(i), axis_samples(resampling, axis));
  }
  return in_float ? to_saturated(at::round(y), x.scalar_type(), Saturation::on) : y;
}

Tensors resize(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Resampling resampling = read_resampling(call);
  const Axes axes = read_axes(call);
  const at::Tensor y = resize_by_pytorch(x, resampling, axes);
  return {y.defined() ? y : resize_by_axis(call, x, resampling, axes)};
}

/// The predecessor of Resize: scales are an attribute (opset 7) or the second input (opset 9).
Tensors upsample(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const auto scales =
      call.has(1) ? call.reals_of(1) : call.reals("scales").value_or(std::vector<double>{});
  if (scales.size() != static_cast<std::size_t>(x.dim()))
    call.fail(fmt::format("{} scales for rank {}", scales.size(), x.dim()));
  Axes axes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::int64_t size = x.size(static_cast<std::int64_t>(i));
    axes.push_back({.input = size, .output = scaled(call, size, scales[i]), .scale = scales[i]});
    if (size > longest_axis || (size > 0 && axes.back().output < 1))
      call.fail(fmt::format("a size of {} becomes {}", size, axes.back().output));
  }
  const bool is_nearest = call.text("mode", "nearest") == "nearest";
  const Resampling resampling = is_nearest ? Resampling{"nearest", "asymmetric", "floor"}
                                           : Resampling{"linear", "half_pixel"};
  const at::Tensor y = resize_by_pytorch(x, resampling, axes);
  return {y.defined() ? y : resize_by_axis(call, x, resampling, axes)};
}

constexpr Lowering resize_rows[] = {
    {"onnx::Resize", resize},
    {"onnx::Upsample", upsample},
};

}  // namespace

Lowerings resize_lowerings() { return resize_rows; }

}  // namespace symprof::lowering
