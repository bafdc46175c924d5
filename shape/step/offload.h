// Nodes whose saved tensors are offloaded to the host (StepOptions::offload_saved).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meta/fake/saved_tensors.h"
#include "shape/interpreter/interpreter.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// True if one of `patterns` is "*": the whole model, including nodes in no module.
bool offloads_all(const std::vector<std::string>& patterns);

/// Wraps the interpreter's observer: nodes of the matched modules run under meta::SaveOnCpu. The
/// loss, and tensors that checkpoints save during recomputation, are outside of the forward pass
/// and stay on the device.
class OffloadedNodes final : public NodeObserver {
 public:
  /// Throws Error for a pattern that no module matches. `inner` has to outlive this.
  OffloadedNodes(const Graph& graph, const std::vector<std::string>& patterns, NodeObserver& inner);

  void begin_node(std::size_t index) override;
  void end_node(std::size_t index) override;

 private:
  std::vector<bool> offloaded_;  // By node.
  NodeObserver& inner_;
  std::optional<meta::SaveOnCpu> running_;
};

}  // namespace symprof::shape
