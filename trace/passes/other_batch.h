// Another batch for a graph whose file fixes the size of its batch.
//
// Public header.
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

/// The size at this batch. Throws Error where it does not fit into 64 bits.
std::int64_t size_at(const BatchSize& size, std::int64_t batch);

/// What an argument of a node is given: a number, a list of them (elements that are values stay),
/// or, where it names a tensor, a constant in its place.
struct BatchedArgument {
  std::size_t node = 0;      ///< Index into Graph::nodes.
  std::size_t argument = 0;  ///< Index into Node::arguments.
  std::vector<BatchSize> sizes;
  std::optional<TensorSpec> tensor;  ///< Of the constant, where the argument names a tensor.
};

/// The numbers of a graph that are its batch, or a multiple of it (shape/batch/find_plan.h).
struct BatchPlan {
  std::int64_t batch = 0;  ///< That of the file.
  std::vector<BatchedArgument> arguments;
  std::vector<std::string> warnings;
};

/// The size that the file fixes for the first dimension of all inputs (those without dimensions
/// aside); empty where they differ, where one is open, and where a dimension is called "batch".
std::optional<std::int64_t> fixed_batch(const Graph& graph);

/// Gives the graph, which has the batch of the plan, another one, and its inputs' first dimensions
/// the symbol "batch" with that size. What the file says of results is forgotten where the batch
/// is another.
void set_batch(Graph& graph, const BatchPlan& plan, std::int64_t batch);

/// How to write the model again so that its batch is open.
std::string open_batch_advice(const Graph& graph);

/// `error`, which a run with another batch than that of `graph` gave, as one about sizes.
Error fixed_batch_error(const Graph& graph, std::int64_t wanted, const Error& error);

}  // namespace symprof::trace
