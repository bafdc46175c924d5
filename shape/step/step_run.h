// One step under a fake mode, wherever its forward pass comes from: a graph or a C++ module.
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

/// The nodes of what follows the forward pass.
struct ClosingNodes {
  NodeId loss = none;
  NodeId optimizer = none;
};

/// Keeps the mode, the recorder and the model's outputs for as long as the step lasts. The order of
/// calls is: add_parameter…, make_optimizer_state, forward, after_forward, take.
class StepRun {
 public:
  explicit StepRun(const StepOptions& options);

  Recorder& recorder() { return *recorder_; }
  const StepOptions& options() const { return options_; }
  bool trains() const { return options_.mode != Mode::inference; }
  /// Whether a parameter is a DTensor, by which engine. The optimizer has those that are as a group
  /// of their own: AdamW refuses a mixture of them with others. Under FSDP2 all are.
  enum class Distributed : std::uint8_t { no, by_tensor_parallelism, by_expert_parallelism };
  /// Counts a parameter; one that requires a gradient gets it and is updated.
  void add_parameter(const at::Tensor& parameter, Distributed distributed = Distributed::no);
  /// What the recipe keeps beside the model from the beginning: masters of the parameters that were
  /// added, the scalars of GradScaler. (States of the optimizer come with the update, as only
  /// parameters with gradients have them.)
  void make_optimizer_state();
  /// Runs `run` with the step's autocast and gradient mode. Its result lives as long as the step,
  /// autocast until the loss is there.
  const std::vector<at::Tensor>& forward(const std::function<std::vector<at::Tensor>()>& run);
  /// Loss, backward and optimizer; nothing in inference. Throws Error that names the node.
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
  MatmulPrecisionRegion matmul_precision_;  // Before the recorder, which reads what it sets.
  std::shared_ptr<Recorder> recorder_;
  meta::FakeMode mode_;
  std::optional<meta::AutocastRegion> autocast_;
  Tensors parameters_, trained_, outputs_;
  std::vector<bool> is_expert_;    // By `parameters_`.
  std::size_t undistributed_ = 0;  // The first of `trained_`.
  Tensors losses_;                 // As long as the step: the next one's loss takes its name.
  std::optional<MasterWeights> masters_;
  std::optional<ParameterShards> shards_;
  std::optional<GradScaler> scaler_;
  std::optional<OptimizerStep> optimizer_;  // Its states stay.
  double forward_ms_ = 0, backward_ms_ = 0;
};

}  // namespace symprof::shape
