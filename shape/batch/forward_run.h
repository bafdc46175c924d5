// The forward pass of a graph on fake tensors, to read sizes only.
#pragma once

#include <functional>

#include "meta/fake/fake_mode.h"
#include "record/step_options.h"
#include "shape/interpreter/interpreter.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// One run, which owns its tensors.
class ForwardRun {
 public:
  /// `graph`, whose inputs are bound, has to outlive this; a node's arguments may change until the
  /// node runs.
  ForwardRun(const Graph& graph, const StepOptions& options);

  /// Throws Error that names the node.
  void run(NodeObserver& observer) { interpreter_.run(observer); }

  Interpreter& interpreter() { return interpreter_; }

  /// The tensor of a value, for its sizes; null if the value is no tensor at this point.
  const at::Tensor* tensor(ValueId id) const;
  /// The known numbers of a value: the elements of a small host tensor, or the scalar. Empty
  /// otherwise.
  std::optional<std::vector<std::int64_t>> numbers(ValueId id) const;

 private:
  void make_leaves(const Graph& graph);

  meta::FakeMode mode_;
  c10::AutoGradMode gradients_;
  Interpreter interpreter_;
};

}  // namespace symprof::shape
