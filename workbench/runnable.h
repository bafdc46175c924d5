// ONNX models as graphs whose values can be computed, and random values for their inputs.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace onnx {
class ModelProto;
}

namespace symprof::workbench {

/// What computes values: the part of the program that needs LibTorch (measure/real/library.h).
struct ValueRunner {
  using Tensors = std::vector<std::shared_ptr<const ConstantTensor>>;
  using Leaves = std::map<std::string, std::shared_ptr<const ConstantTensor>>;
  using Sink = std::function<void(ValueId result, const Tensors& values)>;
  std::function<std::vector<Tensors>(const Graph& graph, const Leaves& leaves)> run;
  /// Tells of each result right after its node has run.
  std::function<void(const Graph& graph, const Leaves& leaves, const Sink& sink)> stream;
  /// By ValueId: whole numbers of an input lie below it.
  std::function<std::vector<std::int64_t>(const Graph& graph)> bounds;
  /// The weights of a TorchScript file by name, which LibTorch alone can read.
  std::function<Leaves(const std::string& path)> script_weights;
};

/// A graph, its nodes and names as the file writes them, and the values of its weights.
struct Runnable {
  Graph graph;
  ValueRunner::Leaves leaves;
};

/// Throws Error for what a Graph cannot hold, and for weights whose data is not there.
Runnable runnable(const onnx::ModelProto& model, const std::string& path);
/// The same of a graph that was read from an archive at `path` and prepared for a run, with the
/// weights that the archive has.
Runnable runnable(const Graph& graph, const std::string& path, const ValueRunner& runner);

struct DrawOptions {
  std::map<std::string, std::int64_t> sizes;  ///< Of symbolic dimensions; 2, 3, … where left out.
  std::uint64_t seed = 0;
};

/// Random values for the inputs that have none: normal numbers, whole ones below their bound. The
/// same for each seed and name. Throws Error for inputs that are no tensors, and for what is too
/// large.
ValueRunner::Leaves random_inputs(const Runnable& start, const std::vector<std::int64_t>& bounds,
                                  const DrawOptions& options, const std::string& path);

}  // namespace symprof::workbench
