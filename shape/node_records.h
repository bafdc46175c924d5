// The rows of a recording: one for each input and graph node, then output, loss and optimizer.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "shape/recorder.h"
#include "shape/step.h"
#include "trace/interpreter/interpreter.h"

namespace symprof::shape {

/// Fills NodeRecords while the interpreter runs, and tells the recorder whose turn it is.
class NodeRecords final : public trace::NodeObserver {
 public:
  /// Everything referred to has to outlive this.
  NodeRecords(const Graph& graph, const trace::Interpreter& interpreter, Recorder& recorder,
              const Progress& progress);

  void begin_node(std::size_t index) override;
  void end_node(std::size_t index) override;

  /// Runs `function` for the row whose turn it is, keeping only `inputs` for backward, which runs
  /// it again for the same row (shape/graph_checkpoint.h; of operators shape/checkpoint.h).
  std::vector<at::Tensor> recompute(trace::TensorFunction function,
                                    const std::vector<at::Tensor>& inputs, trace::RunAgain how);

  NodeId input_node(std::size_t input) const { return static_cast<NodeId>(input); }
  NodeId output_node() const { return output_node_; }
  NodeId loss_node() const { return output_node_ + 1; }
  NodeId optimizer_node() const { return output_node_ + 2; }

  /// After the input's tensor was made.
  void finish_input(std::size_t input);
  void finish_outputs(const std::vector<at::Tensor>& outputs);

 private:
  std::vector<at::Tensor> recompute_all(trace::TensorFunction function,
                                        const std::vector<at::Tensor>& inputs);
  void add_rows();
  void tell_unknown_size(std::size_t index);

  const Graph& graph_;
  const trace::Interpreter& interpreter_;
  Recorder& recorder_;
  const Progress& progress_;
  std::vector<NodeId> row_of_;  // Per graph node.
  NodeId output_node_ = none;
};

}  // namespace symprof::shape
