// ONNX models as graphs whose values can be computed, and random values for their inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "workbench/value_runner.h"

namespace onnx {
class ModelProto;
}

namespace symprof::workbench {

/// A graph with nodes and names as in the file, and the values of its weights.
struct Runnable {
  Graph graph;
  ValueRunner::Leaves leaves;
};

/// Throws Error for what Graph does not support, and for weights with missing data.
Runnable runnable(const onnx::ModelProto& model, const std::string& path);
/// The same for a graph that was read from an archive at `path` and prepared for a run, with the
/// archive's weights.
Runnable runnable(const Graph& graph, const std::string& path, const ValueRunner& runner);

struct DrawOptions {
  std::map<std::string, std::int64_t> sizes;  ///< Of symbolic dimensions; defaults are 2, 3, ….
  std::uint64_t seed = 0;
};

/// Random values for inputs without values: normal numbers, integers below their bound.
/// Deterministic for each seed and name. Throws Error for non-tensor inputs, and for sizes that are
/// too large.
ValueRunner::Leaves random_inputs(const Runnable& start, const std::vector<std::int64_t>& bounds,
                                  const DrawOptions& options, const std::string& path);

}  // namespace symprof::workbench
