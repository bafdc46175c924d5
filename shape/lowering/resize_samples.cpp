#include "shape/lowering/resize_samples.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace symprof::lowering {
namespace {

/// Larger than any distance, and still representable as int64.
constexpr double far = 0x1p40;

/// PyTorch computes weights in float32.
constexpr double weight_rounding = 1e-5;

/// The position of output element `y` on the input axis. The factor may not be the quotient of the
/// sizes, as the output size is rounded down: `whole` is the width before rounding.
double source_coordinate(const std::string& mode, const ResizedAxis& axis, double y) {
  const auto input = static_cast<double>(axis.input), output = static_cast<double>(axis.output);
  const double whole = axis.scale * input;
  if (mode == "align_corners") return whole == 1.0 ? 0.0 : y * (input - 1) / (whole - 1);
  if (mode == "asymmetric") return y / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double width = (axis.crop_end - axis.crop_begin) * (input - 1);
    return axis.crop_begin * (input - 1) + (whole == 1.0 ? width / 2 : y * width / (whole - 1));
  }
  if (mode == "pytorch_half_pixel" && whole == 1.0) return -0.5;
  const double half_pixel = (y + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric") return input / 2 * (1 - output / whole) + half_pixel;
  return half_pixel;
}

std::int64_t nearest_element(const std::string& mode, double x) {
  const double below = std::floor(x), part = x - below;
  const bool up = mode == "ceil"                ? part > 0
                  : mode == "round_prefer_ceil" ? part >= 0.5
                  : mode == "floor"             ? false
                                                : part > 0.5;
  return static_cast<std::int64_t>(below) + (up ? 1 : 0);
}

/// The weight of an element at `distance`.
double kernel(const Resampling& resampling, double distance) {
  const double x = std::abs(distance), a = resampling.cubic_coefficient;
  if (resampling.mode == "linear") return std::max(1 - x, 0.0);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
}

void normalize(double* weights, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += weights[i];
  for (std::int64_t i = 0; i < count && sum != 0; ++i) weights[i] /= sum;
}

}  // namespace

AxisSamples axis_samples(const Resampling& resampling, const ResizedAxis& axis) {
  AxisSamples samples;
  // Antialiasing widens the kernel as the axis shrinks.
  const double narrowing = resampling.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = resampling.mode == "cubic" ? 2.0 : 1.0;
  const bool is_nearest = resampling.mode == "nearest";
  const std::int64_t first =
      is_nearest ? 0 : static_cast<std::int64_t>(std::floor(-reach / narrowing)) + 1;
  samples.taps = is_nearest ? 1 : 2 - 2 * first;
  for (std::int64_t y = 0; y < axis.output; ++y) {
    const double x = std::clamp(
        source_coordinate(resampling.coordinates, axis, static_cast<double>(y)), -far, far);
    samples.extrapolated.push_back(resampling.coordinates == "tf_crop_and_resize" &&
                                   (x < 0 || x > static_cast<double>(axis.input - 1)));
    const std::int64_t start = is_nearest ? nearest_element(resampling.nearest_mode, x)
                                          : static_cast<std::int64_t>(std::floor(x)) + first;
    for (std::int64_t i = start; i < start + samples.taps; ++i)
      samples.weights.push_back(
          is_nearest ? 1.0 : kernel(resampling, narrowing * (static_cast<double>(i) - x)));
    double* const weights = samples.weights.data() + y * samples.taps;
    if (resampling.antialias) normalize(weights, samples.taps);
    for (std::int64_t i = start; i < start + samples.taps; ++i) {
      const bool outside = i < 0 || i >= axis.input;
      if (outside && resampling.exclude_outside && !is_nearest) weights[i - start] = 0;
      samples.indices.push_back(std::clamp<std::int64_t>(i, 0, axis.input - 1));
    }
    if (resampling.exclude_outside) normalize(weights, samples.taps);
  }
  return samples;
}

bool same_samples(const AxisSamples& a, const AxisSamples& b) {
  if (a.extrapolated != b.extrapolated) return false;
  for (std::size_t y = 0; y < a.extrapolated.size(); ++y) {
    std::map<std::int64_t, double> difference;
    const auto add = [&](const AxisSamples& samples, double sign) {
      const auto taps = static_cast<std::size_t>(samples.taps);
      for (std::size_t i = y * taps; i < (y + 1) * taps; ++i)
        difference[samples.indices[i]] += sign * samples.weights[i];
    };
    add(a, 1.0), add(b, -1.0);
    for (const auto& [index, weight] : difference)
      if (std::abs(weight) > weight_rounding) return false;
  }
  return true;
}

}  // namespace symprof::lowering
