// One step of a graph on real tensors of a device, repeatable.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurement.h"
#include "measure/real/call_places.h"
#include "record/step_options.h"
#include "shape/interpreter/interpreter.h"
#include "shape/recipe/grad_scaler.h"
#include "shape/recipe/loss.h"
#include "shape/recipe/master_weights.h"
#include "shape/recipe/optimizer.h"
#include "shape/step/matmul_precision.h"
#include "trace/passes/host_values.h"

namespace symprof::measure::real {

class RealStep {
 public:
  /// Makes weights and inputs on `device`. `graph` and `options` have to outlive it. Throws Error
  /// for features that a real step does not support.
  RealStep(const Graph& graph, const StepOptions& options, c10::Device device);

  /// Call before each run(): drops gradients and redraws weights.
  void prepare();

  /// Nanoseconds, without the allocation of optimizer states.
  struct Duration {
    std::int64_t ns = 0;       ///< Until the device is idle.
    std::int64_t host_ns = 0;  ///< Until the host has issued everything.
  };
  /// Forward, loss, backward and update.
  Duration run();

  /// The current node during run().
  CallPlaces& places() { return places_; }

  /// By NodeId of the recording of the same graph: its name and operator.
  const std::vector<std::pair<std::string, std::string>>& names() const { return names_; }

 private:
  void make_leaves();
  c10::IValue make_leaf(ValueId id, std::int64_t bound);
  void name_nodes();
  bool trains() const { return options_.mode != Mode::inference; }
  std::vector<at::Tensor> forward();
  shape::BackwardStart loss(const std::vector<at::Tensor>& outputs);
  void backward(const shape::BackwardStart& from);
  /// Runs the update; returns the nanoseconds spent on allocating optimizer states.
  std::int64_t update();
  void run_update();
  shape::Recompute recompute();

  const Graph& graph_;
  const StepOptions& options_;
  const c10::Device device_;
  const shape::MatmulPrecisionRegion matmul_precision_;
  CallPlaces places_;
  shape::Interpreter interpreter_;
  trace::HostValues host_;
  std::map<std::string, at::Tensor> tied_;
  std::vector<at::Tensor> trained_;
  std::optional<shape::GradScaler> scaler_;
  std::optional<shape::MasterWeights> masters_;
  std::optional<shape::OptimizerStep> optimizer_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::vector<NodeId> node_of_;  ///< By node of the graph.
  NodeId loss_node_ = none;
  std::vector<at::Tensor> last_outputs_;  ///< Of inference; kept until the next outputs exist.
};

}  // namespace symprof::measure::real
