// Another batch for a graph whose file fixes the size of its batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tensor_spec.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// A size that follows the batch: factor · batch^power + rest.
struct BatchSize {
  std::int64_t factor = 0;
  int power = 0;
  std::int64_t rest = 0;

  bool operator==(const BatchSize&) const = default;
};

/// The size at this batch. Throws Error if it overflows 64 bits.
std::int64_t size_at(const BatchSize& size, std::int64_t batch);

/// The new argument of a node: a number, a list of numbers (elements that are values stay), or, for
/// a tensor, a constant.
struct BatchedArgument {
  std::size_t node = 0;      ///< Index into Graph::nodes.
  std::size_t argument = 0;  ///< Index into Node::arguments.
  std::vector<BatchSize> sizes;
  std::optional<TensorSpec> tensor;  ///< Of the constant, where the argument names a tensor.
};

/// The numbers of a graph that are its batch or a multiple of it (shape/batch/find_plan.h).
struct BatchPlan {
  std::int64_t batch = 0;  ///< The file's batch.
  std::vector<BatchedArgument> arguments;
  std::vector<std::string> warnings;
};

/// The fixed size of the first dimension of all inputs (inputs without dimensions aside); empty if
/// they differ, if one is open, or if a dimension is called "batch".
std::optional<std::int64_t> fixed_batch(const Graph& graph);

/// Changes the batch of the graph, which is the plan's, to another one, and names the inputs' first
/// dimensions "batch". Recorded specs of results are dropped if the batch differs.
void set_batch(Graph& graph, const BatchPlan& plan, std::int64_t batch);

/// How to write the model again so that its batch is open.
std::string open_batch_advice(const Graph& graph);

/// The error of a run with another batch than that of `graph`, as an error about sizes.
Error fixed_batch_error(const Graph& graph, std::int64_t wanted, const Error& error);

}  // namespace symprof::trace
