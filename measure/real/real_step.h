// One step of a graph on real tensors of the CPU, as often as one likes.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/real/call_clock.h"
#include "record/step_options.h"
#include "shape/interpreter/interpreter.h"
#include "shape/recipe/master_weights.h"
#include "shape/recipe/optimizer.h"
#include "trace/passes/host_values.h"

namespace symprof::measure::real {

class RealStep {
 public:
  /// Makes weights and inputs. `graph` and `options` have to outlive it. Throws Error for what a
  /// step on the CPU does not have.
  RealStep(const Graph& graph, const StepOptions& options);

  /// Forward, loss, backward and update. Nanoseconds, without what makes the optimizer's states.
  std::int64_t run(CallClock* clock);

  /// By NodeId of the recording of the same graph: its name and operator.
  const std::vector<std::pair<std::string, std::string>>& names() const { return names_; }

 private:
  void make_leaves();
  c10::IValue make_leaf(ValueId id, std::int64_t bound);
  void name_nodes();
  bool trains() const { return options_.mode != Mode::inference; }
  std::vector<at::Tensor> forward(CallClock* clock);
  void backward(const std::vector<at::Tensor>& outputs, CallClock* clock);
  std::int64_t update(CallClock* clock);

  const Graph& graph_;
  const StepOptions& options_;
  shape::Interpreter interpreter_;
  trace::HostValues host_;
  std::map<std::string, at::Tensor> tied_;
  std::vector<at::Tensor> trained_;
  std::optional<shape::MasterWeights> masters_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::vector<NodeId> node_of_;  ///< By node of the graph.
  NodeId loss_node_ = none;
};

}  // namespace symprof::measure::real
