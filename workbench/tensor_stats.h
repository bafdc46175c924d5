// Statistics of a model's tensors: bounds, moments, deciles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

/// Over numbers that are not NaN. Empty for tensors without data, texts and complex numbers.
struct TensorStats {
  std::string name;
  std::string function;   ///< The function whose body contains the Constant; empty for the graph.
  std::int32_t type = 0;  ///< onnx::TensorProto::DataType.
  std::vector<std::int64_t> sizes;
  std::int64_t elements = 0, bytes = 0;
  std::optional<double> least, greatest, mean, deviation;
  std::optional<std::int64_t> nans;
  /// For 8 numbers or more: how many exceed a bound in magnitude, and the deciles from 0.1 to 0.9
  /// with linear interpolation, as numpy.quantile.
  std::vector<std::pair<double, std::int64_t>> above;
  std::vector<double> deciles;
};

/// Of initializers, including subgraphs, then of Constants of function bodies and of the graph.
/// `model` must have been read with its weights; external data is read from the folder of `path`,
/// one tensor at a time. Throws Error for damaged data.
std::vector<TensorStats> tensor_stats(const onnx::ModelProto& model, const std::string& path);

}  // namespace symprof::workbench
