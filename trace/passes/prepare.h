// The passes that change a graph between its file and its run: all of them, in order.
//
// Public header.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/step_options.h"
#include "trace/passes/bind_inputs.h"

namespace symprof::trace {

struct BatchPlan;  // trace/passes/other_batch.h

/// The options of a graph's preparation.
struct PrepareOptions {
  std::vector<InputOverride> inputs;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::optional<DType> dtype;
  StepOptions step;
  /// Runs a graph and returns the specs of its values: a cache needs the sizes of keys and values.
  std::function<std::vector<std::optional<TensorSpec>>(const Graph&)> specs_of;
  /// The sizes that follow the batch of a graph with bound inputs and a fixed batch
  /// (shape/batch/find_plan.h); empty: the fixed batch stays.
  std::function<BatchPlan(const Graph&)> batch_plan_of;
};

/// A pass over the whole graph.
struct Pass {
  std::string_view name;
  std::string_view why;
  /// True if the pass has anything to do.
  bool (*applies)(const Graph&, const PrepareOptions&);
  void (*run)(Graph&, const PrepareOptions&);
};

/// All passes in the order in which they run; the first `reading_passes` need no options and run
/// when a file is read.
std::span<const Pass> passes();
constexpr std::size_t reading_passes = 1;

/// Runs the passes that need no options. Verifies the graph after each. Throws Error.
void finish_reading(Graph& graph);

/// Runs the passes that `options` ask for, on a graph that was read and not prepared yet. Verifies
/// the graph after each. Throws Error.
void prepare(Graph& graph, const PrepareOptions& options);

}  // namespace symprof::trace
