// The input elements and weights of each element of a resized axis (ONNX, Resize). Numbers only:
// lowerings turn them into calls and compare them with PyTorch's operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symprof::lowering {

/// The attributes of Resize that determine the weights.
struct Resampling {
  std::string mode = "nearest";            ///< nearest, linear or cubic.
  std::string coordinates = "half_pixel";  ///< coordinate_transformation_mode.
  std::string nearest_mode = "round_prefer_floor";
  double cubic_coefficient = -0.75;
  bool antialias = false;
  bool exclude_outside = false;
};

/// One axis: its sizes, the file's factor (or the quotient of the sizes), and the part of the input
/// that tf_crop_and_resize takes, as fractions of the axis.
struct ResizedAxis {
  std::int64_t input = 0, output = 0;
  double scale = 1.0;
  double crop_begin = 0.0, crop_end = 1.0;
};

/// Each output element is a weighted sum of `taps` input elements; indices are within the axis.
struct AxisSamples {
  std::int64_t taps = 1;
  std::vector<std::int64_t> indices;  ///< [outputs, taps]
  std::vector<double> weights;        ///< [outputs, taps]
  std::vector<bool> extrapolated;     ///< Lies outside the input (tf_crop_and_resize only).
};

/// The input elements and weights of each output element of `axis`.
AxisSamples axis_samples(const Resampling& resampling, const ResizedAxis& axis);

/// True if both read the same elements with weights that differ only by rounding.
bool same_samples(const AxisSamples& a, const AxisSamples& b);

}  // namespace symprof::lowering
