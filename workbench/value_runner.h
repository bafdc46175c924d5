// The computation of a graph's values, and the values that it starts from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::workbench {

/// Computes values: provided by the part of the program that needs LibTorch
/// (measure/real/library.h).
struct ValueRunner {
  using Tensors = std::vector<std::shared_ptr<const ConstantTensor>>;
  using Leaves = std::map<std::string, std::shared_ptr<const ConstantTensor>>;
  using Sink = std::function<void(ValueId result, const Tensors& values)>;
  std::function<std::vector<Tensors>(const Graph& graph, const Leaves& leaves)> run;
  /// Calls `sink` with each result right after its node has run.
  std::function<void(const Graph& graph, const Leaves& leaves, const Sink& sink)> stream;
  /// By ValueId: an exclusive bound of an input's integers.
  std::function<std::vector<std::int64_t>(const Graph& graph)> bounds;
  /// The weights of a TorchScript file by name, which only LibTorch can read.
  std::function<Leaves(const std::string& path)> script_weights;
};

}  // namespace symprof::workbench
