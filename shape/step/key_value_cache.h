// Runs a graph with the key-value cache added by trace/passes/key_value_cache.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <unordered_map>
#include <vector>

#include "shape/interpreter/interpreter.h"
#include "shape/step/recorder.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Wraps the interpreter's observer. With `self.keys = torch.cat([self.keys, key_states], dim=-2)`
/// (transformers/cache_utils.py) the past keys die once they are concatenated with the step's keys,
/// and the result stays for the next step. The step's keys die when their variable is rebound to
/// the result.
class CachedNodes final : public NodeObserver {
 public:
  /// Everything referred to has to outlive this.
  CachedNodes(const Graph& graph, Interpreter& interpreter, Recorder& recorder,
              NodeObserver& inner);

  void begin_node(std::size_t index) override { inner_.begin_node(index); }
  void end_node(std::size_t index) override;

 private:
  const Graph& graph_;
  Interpreter& interpreter_;
  Recorder& recorder_;
  NodeObserver& inner_;
  std::unordered_map<ValueId, ValueId> past_of_;           // Past by present.
  std::unordered_multimap<ValueId, ValueId> steps_until_;  // By step_until: steps that end there.
  std::unordered_map<ValueId, std::size_t> last_read_;     // By step: the index of a node.
  std::vector<at::Tensor> kept_;
};

}  // namespace symprof::shape
