// One step under a fake mode, wherever its forward pass comes from: a graph or a C++ module.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "meta/fake/fake_mode.h"
#include "shape/optimizer.h"
#include "shape/recorder.h"
#include "shape/step.h"

namespace symprof::shape {

/// The rows of what follows the forward pass.
struct ClosingRows {
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
  /// Counts a parameter; one that requires a gradient gets it and is updated.
  void add_parameter(const at::Tensor& parameter);
  /// State tensors of the parameters that were added, as an earlier step would have left them.
  void make_optimizer_state();
  /// Runs `run` with the step's autocast and gradient mode. Its result lives as long as the step.
  const std::vector<at::Tensor>& forward(const std::function<std::vector<at::Tensor>()>& run);
  /// Loss, backward and optimizer; nothing in inference. Throws Error that names the row.
  void after_forward(const ClosingRows& rows);
  Recording take();

 private:
  void backward(const ClosingRows& rows);
  void update(const ClosingRows& rows);

  const StepOptions& options_;
  std::shared_ptr<Recorder> recorder_;
  meta::FakeMode mode_;
  std::vector<at::Tensor> trained_;
  std::vector<at::Tensor> outputs_;
  OptimizerState optimizer_state_;
  double forward_ms_ = 0, backward_ms_ = 0;
};

}  // namespace symprof::shape
