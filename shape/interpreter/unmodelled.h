// Nodes of operators without a rule, where the file gives the shapes of their results.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <optional>
#include <vector>

#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// While it lives, steps of this thread take such operators to save these tensors for backward.
class AssumeSaved {
 public:
  explicit AssumeSaved(AssumedSaved saved);
  ~AssumeSaved();
  AssumeSaved(const AssumeSaved&) = delete;
  AssumeSaved& operator=(const AssumeSaved&) = delete;

 private:
  AssumedSaved before_;
};

/// The specs of the results that the graph uses, in order; empty if the file lacks one.
std::optional<std::vector<TensorSpec>> recorded_results(const Graph& graph, const Node& node);

/// One call that makes results of the shapes in the file. Throws Error where a gradient goes
/// through it and nothing says what it saves.
std::vector<c10::IValue> run_unmodelled(const Graph& graph, const Node& node,
                                        const std::vector<c10::IValue>& values, c10::Device device);

}  // namespace symprof::shape
