#include "shape/step/step_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/error_text.h"
#include "meta/fake/fake_tensor.h"
#include "shape/recipe/clip_gradients.h"
#include "shape/recipe/loss.h"
#include "shape/step/forced_backend.h"
#include "shape/step/look_ups.h"

namespace symprof::shape {
namespace {

void mark_gradients(const Tensors& parameters, Recorder& recorder) {
  for (const at::Tensor& parameter : parameters)
    if (parameter.grad().defined())
      recorder.give_to_parameter(meta::storage_id(parameter.grad()), StorageKind::gradient,
                                 meta::storage_id(parameter));
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

StepRun::StepRun(const StepOptions& options)
    : options_(options),
      matmul_precision_(options.float32_matmul_precision),
      recorder_(std::make_shared<Recorder>()),
      mode_({.device = options.device, .forced = forced_backend(options.attention)}, recorder_) {
  if (options.unbacked == UnbackedSizes::max) recorder_->take_upper_bounds();
}

void StepRun::add_parameter(const at::Tensor& parameter, Distributed distributed) {
  recorder_->recording().parameter_count += parameter.numel();
  parameters_.push_back(parameter);
  is_expert_.push_back(distributed == Distributed::by_expert_parallelism);
  if (!parameter.requires_grad()) return;
  const auto end_of_group = distributed != Distributed::no
                                ? trained_.end()
                                : trained_.begin() + static_cast<std::ptrdiff_t>(undistributed_++);
  trained_.insert(end_of_group, parameter);
}

void StepRun::make_optimizer_state() {
  if (!trains()) return;
  recorder_->enter(Phase::forward, none);
  recorder_->set_kind(StorageKind::optimizer_state, Recorder::Made::with_model);
  if (options_.master_weights) make_masters();
  if (options_.sharded_update) make_shards();
  if (options_.grad_scaler) scaler_.emplace();
  recorder_->set_kind(StorageKind::activation);
}

void StepRun::make_masters() {
  masters_.emplace(trained_);
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    const at::Tensor& updated = masters_->updated()[i];
    if (!updated.is_same(trained_[i]))
      recorder_->give_to_parameter(meta::storage_id(updated), StorageKind::optimizer_state,
                                   meta::storage_id(trained_[i]));
  }
}

void StepRun::make_shards() {
  shards_.emplace(parameters_, is_expert_, *options_.sharded_update);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!is_expert_[i])
      recorder_->give_to_parameter(meta::storage_id(shards_->all()[i]), StorageKind::parameter,
                                   meta::storage_id(parameters_[i]));
}

const std::vector<at::Tensor>& StepRun::forward(
    const std::function<std::vector<at::Tensor>()>& run) {
  const auto start = std::chrono::steady_clock::now();
  if (options_.autocast)
    autocast_.emplace(meta::AutocastState::now().with_cuda(meta::scalar_type(*options_.autocast)));
  const c10::AutoGradMode grad_mode(trains());
  outputs_ = run();
  check_look_ups(recorder_->recording());
  if (!trains() || options_.loss == Loss::ones) autocast_.reset();
  forward_ms_ = milliseconds_since(start);
  return outputs_;
}

// Errors of the forward pass name their node; here the recorder supplies the current node.
void StepRun::after_forward(const ClosingNodes& nodes) {
  if (!trains()) return;
  const auto where = [&] {
    const Recording& recording = recorder_->recording();
    const NodeRecord& node =
        recording.nodes.at(static_cast<std::size_t>(recorder_->current_node()));
    return fmt::format("{}: after the forward pass, for node {} ({})", recording.path, node.name,
                       node.op);
  };
  try {
    backward(nodes);
    update(nodes);
  } catch (const Error& error) {
    if (error.about()) throw;  // The error is about a setting, not a node.
    throw error.inside(where());
  } catch (const c10::Error& error) {
    throw meta::refusal(where(), error,
                        setting("mode", "inference") + " profiles the forward pass alone.");
  }
}

void StepRun::backward(const ClosingNodes& nodes) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<at::Tensor> differentiable;
  for (const at::Tensor& output : outputs_)
    if (output.requires_grad()) differentiable.push_back(output);
  if (differentiable.empty()) {
    recorder_->recording().warnings.emplace_back(
        "no output needs a gradient: there is no backward pass");
    return;
  }
  recorder_->enter(Phase::loss, nodes.loss);
  recorder_->mark_sequence(nodes.loss);
  losses_ = make_losses(differentiable, options_.loss);
  autocast_.reset();
  differentiable.clear();
  const BackwardStart from =
      start_backward(scaler_ ? scaler_->scale(losses_) : losses_, options_.loss);
  recorder_->mark_sequence(none);
  recorder_->enter(Phase::backward, nodes.loss);
  torch::autograd::backward(from.roots, from.gradients);
  mark_gradients(trained_, *recorder_);
  backward_ms_ = milliseconds_since(start);
}

void StepRun::update(const ClosingNodes& nodes) {
  if (options_.optimizer == Optimizer::none) return;
  recorder_->enter(Phase::optimizer, nodes.optimizer);
  const at::NoGradGuard no_grad;
  OptimizerStep& optimizer = optimizer_.emplace(options_, start_update());
  if (!shards_) optimizer.begin_group(undistributed_);
  if (optimizer.gradients().empty()) return;
  run_update(optimizer);
  if (masters_) masters_->give_to_model();
}

/// The tensors given to the optimizer.
const Tensors& StepRun::start_update() {
  if (shards_) {
    shards_->take_gradients();
    mark_gradients(shards_->updated(), *recorder_);
    return shards_->updated();
  }
  if (!masters_) return trained_;
  masters_->take_gradients();
  mark_gradients(masters_->updated(), *recorder_);
  return masters_->updated();
}

/// In its first update an optimizer creates a group's states right before the group's update.
void StepRun::make_states(OptimizerStep& optimizer, std::size_t group) {
  const bool is_made_before = optimizer.states_made() == StatesMade::with_optimizer;
  recorder_->set_kind(StorageKind::optimizer_state, is_made_before ? Recorder::Made::with_model
                                                    : group == 0   ? Recorder::Made::in_first_update
                                                                   : Recorder::Made::now);
  optimizer.make_states(group);
  recorder_->set_kind(StorageKind::activation);
  optimizer.for_each_state([&](const at::Tensor& state, const at::Tensor& parameter) {
    recorder_->give_to_parameter(meta::storage_id(state), StorageKind::optimizer_state,
                                 meta::storage_id(parameter));
  });
}

void StepRun::run_update(OptimizerStep& optimizer) {
  make_states(optimizer, 0);
  if (options_.clip_grad_norm) {
    if (scaler_) scaler_->unscale(optimizer.gradients());
    clip_grad_norm(optimizer.gradients());
  }
  {
    FusedScaling scaling;  // Released before the scale's update.
    if (scaler_) scaling = scaler_->before_step(optimizer.gradients(), optimizer.variant());
    for (std::size_t group = 0; group < optimizer.groups(); ++group) {
      if (group > 0) make_states(optimizer, group);
      optimizer.run(group, scaling);
    }
  }
  if (scaler_) scaler_->update();
}

Recording StepRun::take() {
  Recording recording = recorder_->take();
  recording.forward_ms = forward_ms_;
  recording.backward_ms = backward_ms_;
  const auto bounds = std::ranges::count_if(recording.nodes, &NodeRecord::upper_bound);
  if (bounds > 0)
    recording.warnings.push_back(fmt::format(
        "{} row{} (marked ≤) had a size that depends on data and took the most that it can be: "
        "their figures, and those of all rows that use them, are upper bounds.",
        bounds, bounds == 1 ? "" : "s"));
  return recording;
}

}  // namespace symprof::shape
