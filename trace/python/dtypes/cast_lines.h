// The lines of Python of nodes that cast and make tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/source/written_dtypes.h"

namespace symprof::trace {

/// A cast or a device move, as an export writes it.
bool is_recorded_cast(const Node& node);
/// `x.to(device)`, which is exported as aten::to.dtype_layout with the dtype of x.
bool is_move(const Node& node);

/// True if the node makes a tensor from no other, or from another one's shape.
bool makes_new_tensor(const Node& node);

/// The dtype of a value in the exported run; empty if unknown.
std::optional<DType> dtype_in_file(const Graph& graph, ValueId id);

/// The dtypes that lines of Python write for the dtype arguments of nodes.
class CastLines {
 public:
  /// `graph` has to outlive this, and to keep its nodes.
  explicit CastLines(const Graph& graph) : graph_(graph) {}

  /// How the line of a node gives its `dtype` argument.
  WrittenDType written(std::size_t node, DType dtype);

  /// The casts of the statement that made a node, except those in functions that the statement
  /// calls.
  const std::vector<std::size_t>& beside(std::size_t node) {
    return casts_[run().statement_of[node]];
  }

  /// The function calls that made the nodes.
  const PythonRun& run();

 private:
  WrittenDType written_cast(std::size_t index, std::string_view line, DType dtype);

  const Graph& graph_;
  PythonRun run_;  ///< Computed on first use.
  std::vector<std::vector<std::size_t>>
      casts_;  ///< By statement: casts made by the function itself.
};

}  // namespace symprof::trace
