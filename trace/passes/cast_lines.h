// The lines of Python of the nodes that cast and make tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/frames/calls.h"
#include "trace/frames/written_dtypes.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// A cast, or a move to a device, as an export writes it.
bool is_recorded_cast(const Node& node);
/// `x.to(device)`, which is exported as aten::to.dtype_layout with the dtype that x had.
bool is_move(const Node& node);

/// Makes a tensor from no other, or from the shape of one.
bool makes_new_tensor(const Node& node);

/// The dtype of a value in the run that the file was made from; empty where nothing tells.
std::optional<DType> dtype_in_file(const Graph& graph, ValueId id);

/// What the lines of Python say of the dtypes that nodes name.
class CastLines {
 public:
  /// `graph` has to outlive this, and to keep its nodes.
  explicit CastLines(const Graph& graph) : graph_(graph) {}

  /// Whose word the `dtype` of a node is.
  WrittenDType written(std::size_t node, DType dtype);

  /// The casts of the statement that made a node, those of functions that it calls left out.
  const std::vector<std::size_t>& beside(std::size_t node) {
    return casts_[run().statement_of[node]];
  }

  /// The calls of functions that made the nodes.
  const PythonRun& run();

 private:
  WrittenDType written_cast(std::size_t index, std::string_view line, DType dtype);

  const Graph& graph_;
  PythonRun run_;                                ///< Empty until it is asked for.
  std::vector<std::vector<std::size_t>> casts_;  ///< By statement, what the function itself made.
};

}  // namespace symprof::trace
