// Candidate sizes of a node that runs with another batch, and what they are derived from.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "shape/batch/size_list.h"

namespace symprof::shape {

/// The state of the graph when a node is about to run with the other batch.
struct Surroundings {
  const Graph& graph;
  const Batches& batches;
  std::function<const Extents*(ValueId)> extents;     ///< Null where a value is no tensor.
  std::function<const Numbers*(ValueId)> file_sizes;  ///< Of a result, with the file's batch.
  NumbersOf numbers;
};

struct Choice {
  Numbers sizes;  ///< As many as the SizeList has.
  /// Another choice is possible, and only later uses of the result can rule one out.
  bool is_guess = false;
};

/// A node's size arguments, and the candidates for their values, the most likely first.
struct Choices {
  SizeList list;
  std::vector<Choice> choices;
};

/// Positions of samples that nodes select from the batch one by one, by value.
using TakenSamples = std::map<ValueId, std::set<std::int64_t>>;

}  // namespace symprof::shape
