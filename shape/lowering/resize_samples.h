// Which elements of an axis make an element of the resized axis, and with what weights (ONNX,
// Resize). Numbers only: a lowering makes calls of them, and compares what PyTorch's operators do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symprof::lowering {

/// The attributes of a Resize that decide the weights.
struct Resampling {
  std::string mode = "nearest";            ///< nearest, linear or cubic.
  std::string coordinates = "half_pixel";  ///< coordinate_transformation_mode.
  std::string nearest_mode = "round_prefer_floor";
  double cubic_coefficient = -0.75;
  bool antialias = false;
  bool exclude_outside = false;
};

/// One axis: its sizes, the factor that the file gives (or their quotient), and the part of the
/// input that tf_crop_and_resize takes, in units of the axis.
struct ResizedAxis {
  std::int64_t input = 0, output = 0;
  double scale = 1.0;
  double crop_begin = 0.0, crop_end = 1.0;
};

/// Each output element is made of `taps` input elements; indices lie within the axis.
struct AxisSamples {
  std::int64_t taps = 1;
  std::vector<std::int64_t> indices;  ///< [outputs, taps]
  std::vector<double> weights;        ///< [outputs, taps]
  std::vector<bool> extrapolated;     ///< Lies outside the input (tf_crop_and_resize only).
};

/// The input elements, and their weights, of each output element of `axis`.
AxisSamples axis_samples(const Resampling& resampling, const ResizedAxis& axis);

/// True when both read the same elements with weights that differ by rounding only.
bool same_samples(const AxisSamples& a, const AxisSamples& b);

}  // namespace symprof::lowering
