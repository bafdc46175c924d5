// Other ways to run the same step that take less memory, and what each is called on the command
// line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "trace/graph/graph.h"

namespace symprof::cli {

struct PossibleChange {
  std::string text;  ///< The options that say so: "--optimizer adamw:fused".
  std::function<void(ModelOptions&)> apply;
};

/// What `options` leave open, each alone, from what costs nothing (the allocator, another kernel)
/// to what costs time (computing again, copies to the host). They go together.
std::vector<PossibleChange> possible_changes(const Graph& graph, const ModelOptions& options);

/// What trains in another way: an optimizer without a state for each parameter, the whole model in
/// half precision. Each stands alone.
std::vector<PossibleChange> other_recipes(const ModelOptions& options);

/// The dimension that sizes the batch: the first of the first input that has one of its own. `name`
/// is what --set calls it; empty where the file fixes the size.
struct BatchDimension {
  std::string name;
  std::int64_t size = 0;   ///< Of the step.
  std::int64_t least = 1;  ///< That the file was exported for.
};
std::optional<BatchDimension> batch_dimension(const Graph& graph, const ModelOptions& options);

/// `size` of the dimension `name`, in so many passes before each update.
PossibleChange smaller_batch(const std::string& name, std::int64_t size, int micro_batches);

}  // namespace symprof::cli
