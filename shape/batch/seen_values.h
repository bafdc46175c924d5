// What the values of a graph look like in a run of it.
#pragma once

#include <optional>
#include <vector>

#include "record/step_options.h"
#include "shape/batch/extents.h"
#include "shape/batch/forward_run.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Sizes and numbers of all values, by ValueId.
struct SeenValues {
  std::vector<std::optional<Numbers>> sizes, numbers;
  std::vector<TensorSpec> specs;  ///< Of values with numbers that are tensors.
};

/// What a graph with bound inputs makes. Throws Error that names the node.
SeenValues seen_values(const Graph& graph, const StepOptions& options);

/// Notes what the values of a run look like when they come to be.
class ValueNotes {
 public:
  explicit ValueNotes(std::size_t values);

  void note(const ForwardRun& run, ValueId id);

  const SeenValues& seen() const { return seen_; }
  SeenValues take() { return std::move(seen_); }

 private:
  SeenValues seen_;
};

}  // namespace symprof::shape
