// The forward pass of a graph on fake tensors, for nothing but its sizes.
#pragma once

#include <functional>

#include "meta/fake/fake_mode.h"
#include "record/step_options.h"
#include "shape/interpreter/interpreter.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// One run. Its tensors live as long as it does.
class ForwardRun {
 public:
  /// `graph`, whose inputs are bound, has to outlive this; arguments of a node may change until the
  /// node runs.
  ForwardRun(const Graph& graph, const StepOptions& options);

  /// Throws Error that names the node.
  void run(NodeObserver& observer) { interpreter_.run(observer); }

  Interpreter& interpreter() { return interpreter_; }

  /// The sizes of a value; null where it is no tensor now.
  const at::Tensor* tensor(ValueId id) const;
  /// The numbers of a value that are known: those of a tensor on the host with few elements, or the
  /// number that it is. Empty otherwise.
  std::optional<std::vector<std::int64_t>> numbers(ValueId id) const;

 private:
  void make_leaves(const Graph& graph);

  meta::FakeMode mode_;
  c10::AutoGradMode gradients_;
  Interpreter interpreter_;
};

}  // namespace symprof::shape
