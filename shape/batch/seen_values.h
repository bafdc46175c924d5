// Sizes and numbers of a graph's values, as one run of it gives them.
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
  std::vector<TensorSpec> specs;  ///< Of tensors with known numbers.
};

/// The values of a graph with bound inputs. Throws Error that names the node.
SeenValues seen_values(const Graph& graph, const StepOptions& options);

/// Records the values of a run when they are made.
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
