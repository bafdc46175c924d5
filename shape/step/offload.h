// Which nodes of a step save on the host what they save for backward (StepOptions::offload_saved).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meta/fake/saved_tensors.h"
#include "shape/interpreter/interpreter.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// True where one of `patterns` is "*": that is the whole model, what lies in no module included.
bool offloads_all(const std::vector<std::string>& patterns);

/// Stands between the interpreter and the observer that it would otherwise tell: nodes of the
/// matched modules run under meta::SaveOnCpu. The loss, and what checkpoints save when they run
/// again, lie outside of the forward pass and stay on the device.
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
