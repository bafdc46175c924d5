// Candidate values for the numbers of one node when the graph runs with another batch.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "shape/batch/size_list.h"

namespace symprof::shape {

/// The state of the run when a node is about to run with the other batch.
struct Surroundings {
  const Graph& graph;
  const Batches& batches;
  std::function<const Extents*(ValueId)> extents;     ///< Null if the value is no tensor.
  std::function<const Numbers*(ValueId)> file_sizes;  ///< Of a result, with the file's batch.
  NumbersOf numbers;
};

struct Choice {
  Numbers sizes;  ///< One per number of the list.
  /// Another choice may be what the model means; only uses of the result can decide.
  bool is_guess = false;
};

/// The numbers of a node and their candidate values, the most likely first.
struct Choices {
  SizeList list;
  std::vector<Choice> choices;
};

/// Batch elements that nodes select one by one: positions by value.
using TakenSamples = std::map<ValueId, std::set<std::int64_t>>;

/// Returns the candidate sizes of `node`. Throws Error if the node works on single samples or on
/// parts of the batch: such a graph changes with the batch. `taken` lists the samples that earlier
/// nodes selected.
Choices choices_of(const Node& node, const SizedOperator& sized, const Surroundings& surroundings,
                   TakenSamples& taken);

/// Throws Error if a nested graph creates tensors with the size of the batch: a nested graph does
/// not show if that size is the batch.
void check_nested_sizes(const Graph& graph, const Batches& batches);

}  // namespace symprof::shape
