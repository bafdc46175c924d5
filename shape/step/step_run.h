// One step under a fake mode, of a graph or a C++ module.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "meta/fake/autocast_state.h"
#include "meta/fake/fake_mode.h"
#include "record/step_options.h"
#include "shape/recipe/grad_scaler.h"
#include "shape/recipe/master_weights.h"
#include "shape/recipe/optimizer.h"
#include "shape/recipe/sharded_update.h"
#include "shape/step/matmul_precision.h"
#include "shape/step/recorder.h"

namespace symprof::shape {

/// The nodes after the forward pass.
struct ClosingNodes {
  NodeId loss = none;
  NodeId optimizer = none;
};

/// Owns the mode, the recorder and the model's outputs for the step. Call order: add_parameter…,
/// make_optimizer_state, forward, after_forward, take.
class StepRun {
 public:
  explicit StepRun(const StepOptions& options);

  Recorder& recorder() { return *recorder_; }
  const StepOptions& options() const { return options_; }
  bool trains() const { return options_.mode != Mode::inference; }
  /// If a parameter is a DTensor, the engine that made it one. DTensors form a separate optimizer
  /// group, as AdamW refuses to mix them with other tensors. Under FSDP2 all are DTensors.
  enum class Distributed : std::uint8_t { no, by_tensor_parallelism, by_expert_parallelism };
  /// Counts a parameter; if it requires a gradient, it gets one and is updated.
  void add_parameter(const at::Tensor& parameter, Distributed distributed = Distributed::no);
  /// Creates the recipe's state that exists from the beginning: masters of the added parameters,
  /// GradScaler's scalars. (The optimizer's states are created in the update, as only parameters
  /// with gradients have them.)
  void make_optimizer_state();
  /// Runs `run` with the step's autocast and gradient mode. Its result lives as long as the step;
  /// autocast stays active until the loss is computed.
  const std::vector<at::Tensor>& forward(const std::function<std::vector<at::Tensor>()>& run);
  /// Runs loss, backward and optimizer; does nothing in inference. Throws Error that names the
  /// node.
  void after_forward(const ClosingNodes& nodes);
  Recording take();

 private:
  void backward(const ClosingNodes& nodes);
  void update(const ClosingNodes& nodes);
  void make_masters();
  void make_shards();
  const Tensors& start_update();
  void make_states(OptimizerStep& optimizer, std::size_t group);
  void run_update(OptimizerStep& optimizer);

  const StepOptions& options_;
  MatmulPrecisionRegion
      matmul_precision_;  // Declared before the recorder, which reads the setting.
  std::shared_ptr<Recorder> recorder_;
  meta::FakeMode mode_;
  std::optional<meta::AutocastRegion> autocast_;
  Tensors parameters_, trained_, outputs_;
  std::vector<bool> is_expert_;    // By `parameters_`.
  std::size_t undistributed_ = 0;  // The first of `trained_`.
  Tensors losses_;                 // Alive until the next step's loss rebinds the name.
  std::optional<MasterWeights> masters_;
  std::optional<ParameterShards> shards_;
  std::optional<GradScaler> scaler_;
  std::optional<OptimizerStep> optimizer_;  // Its states stay.
  double forward_ms_ = 0, backward_ms_ = 0;
};

}  // namespace symprof::shape
