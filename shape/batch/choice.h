// What is known of a node that runs with another batch, and the numbers that it may get.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "shape/batch/size_list.h"

namespace symprof::shape {

/// What is known when a node is about to run with the other batch.
struct Surroundings {
  const Graph& graph;
  const Batches& batches;
  std::function<const Extents*(ValueId)> extents;     ///< Null where a value is no tensor.
  std::function<const Numbers*(ValueId)> file_sizes;  ///< Of a result, with the file's batch.
  NumbersOf numbers;
};

struct Choice {
  Numbers sizes;  ///< As many as the list has.
  /// The model may mean another choice, and only what uses the result tells.
  bool is_guess = false;
};

/// The numbers of a node, and what they may be, the likeliest first.
struct Choices {
  SizeList list;
  std::vector<Choice> choices;
};

/// Elements of the batch that nodes take out of it one by one: by value, their positions.
using TakenSamples = std::map<ValueId, std::set<std::int64_t>>;

}  // namespace symprof::shape
