// The nodes of a recording: one for each input and graph node, then output, loss and optimizer.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "record/step_options.h"
#include "shape/interpreter/interpreter.h"
#include "shape/step/recorder.h"
#include "trace/python/lifetimes/possible_lifetimes.h"

namespace symprof::shape {

/// Fills NodeRecords while the interpreter runs and sets the recorder's current node.
class NodeRecords final : public NodeObserver {
 public:
  /// Everything referred to has to outlive this.
  NodeRecords(const Graph& graph, const Interpreter& interpreter, Recorder& recorder,
              const StepOptions& options,
              const std::vector<trace::PossibleLifetime>& possible_lifetimes);

  void begin_node(std::size_t index) override;
  void end_node(std::size_t index) override;

  /// Runs `function` for the current node and keeps only `inputs` for backward, which recomputes it
  /// for the same node (shape/step/graph_checkpoint.h; for operators shape/step/checkpoint.h).
  std::vector<at::Tensor> recompute(TensorFunction function, const std::vector<at::Tensor>& inputs,
                                    const Rerun& rerun);

  NodeId input_node(std::size_t input) const { return static_cast<NodeId>(input); }
  NodeId loss_node() const { return output_node_ + 1; }
  NodeId optimizer_node() const { return output_node_ + 2; }

  /// Completes an input's node after its tensor is created.
  void finish_input(std::size_t input);
  /// Completes the node of the outputs.
  void finish_outputs(const std::vector<at::Tensor>& outputs);

 private:
  std::vector<at::Tensor> recompute_all(TensorFunction function,
                                        const std::vector<at::Tensor>& inputs);
  void add_nodes();
  void tell_unbacked_size(std::size_t index);
  void note_uncertainty(ValueId id);
  NodeId last_node_until(std::size_t index) const;

  const Graph& graph_;
  const Interpreter& interpreter_;
  Recorder& recorder_;
  const Progress& progress_;
  // By value; empty if no lifetime is uncertain.
  const std::vector<trace::PossibleLifetime>& possible_lifetimes_;
  std::vector<NodeId> node_of_;  // Per graph node.
  NodeId output_node_ = none;
};

}  // namespace symprof::shape
