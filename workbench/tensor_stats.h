// What the numbers of a model's tensors are: bounds, moments, deciles.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

/// Of numbers that are not NaN. Those of tensors without data, or of texts and complex numbers, are
/// empty.
struct TensorStats {
  std::string name;
  std::string function;   ///< In whose body a Constant stands; empty for the graph.
  std::int32_t type = 0;  ///< onnx::TensorProto::DataType.
  std::vector<std::int64_t> sizes;
  std::int64_t elements = 0, bytes = 0;
  std::optional<double> least, greatest, mean, deviation;
  std::optional<std::int64_t> nans;
  /// From 8 numbers on: how many are above a bound, regardless of their signs, and the deciles from
  /// 0.1 to 0.9, linear between neighbours, as numpy.quantile.
  std::vector<std::pair<double, std::int64_t>> above;
  std::vector<double> deciles;
};

/// Of initializers, those of subgraphs too, then of Constants of function bodies and of the graph.
/// `model` was read with its weights; external data is read from the folder of `path`, a tensor at
/// a time. Throws Error for damaged data.
std::vector<TensorStats> tensor_stats(const onnx::ModelProto& model, const std::string& path);

}  // namespace symprof::workbench
