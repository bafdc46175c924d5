#include "shape/step_run.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "meta/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/error_text.h"
#include "meta/fake/fake_tensor.h"
#include "shape/loss.h"

namespace symprof::shape {
namespace {

std::optional<at::SDPBackend> forced_backend(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::automatic:
      return std::nullopt;
    case AttentionBackend::math:
      return at::SDPBackend::math;
    case AttentionBackend::flash:
      return at::SDPBackend::flash_attention;
    case AttentionBackend::efficient:
      return at::SDPBackend::efficient_attention;
    case AttentionBackend::cudnn:
      return at::SDPBackend::cudnn_attention;
  }
  return std::nullopt;
}

// Autocast for as long as it lives, when the step asks for it.
class AutocastRegion {
 public:
  explicit AutocastRegion(std::optional<DType> dtype) : active_(dtype.has_value()) {
    if (!active_) return;
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    at::autocast::set_autocast_dtype(at::kCUDA, meta::scalar_type(*dtype));
    at::autocast::increment_nesting();
  }
  ~AutocastRegion() {
    if (!active_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
  }
  AutocastRegion(const AutocastRegion&) = delete;
  AutocastRegion& operator=(const AutocastRegion&) = delete;

 private:
  bool active_;
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

StepRun::StepRun(const StepOptions& options)
    : options_(options),
      recorder_(std::make_shared<Recorder>()),
      mode_({.device = options.device, .forced = forced_backend(options.attention)}, recorder_) {
  if (options.upper_bounds) recorder_->take_upper_bounds();
}

void StepRun::add_parameter(const at::Tensor& parameter) {
  recorder_->recording().parameter_count += parameter.numel();
  if (parameter.requires_grad()) trained_.push_back(parameter);
}

void StepRun::make_optimizer_state() {
  recorder_->enter(Phase::forward, none);
  recorder_->set_kind(StorageKind::optimizer_state);
  if (trains())
    optimizer_state_ = make_state(trained_, options_.optimizer, options_.optimizer_variant);
  recorder_->set_kind(StorageKind::activation);
}

const std::vector<at::Tensor>& StepRun::forward(
    const std::function<std::vector<at::Tensor>()>& run) {
  const auto start = std::chrono::steady_clock::now();
  const AutocastRegion autocast(options_.autocast);
  const c10::AutoGradMode grad_mode(trains());
  outputs_ = run();
  forward_ms_ = milliseconds_since(start);
  return outputs_;
}

// Errors of the forward pass name their node; out here the recorder knows whose turn it was.
void StepRun::after_forward(const ClosingRows& rows) {
  if (!trains()) return;
  try {
    backward(rows);
    update(rows);
  } catch (const c10::Error& error) {
    const Recording& recording = recorder_->recording();
    const NodeRecord& node =
        recording.nodes.at(static_cast<std::size_t>(recorder_->current_node()));
    throw Error(fmt::format("{}: after the forward pass, for node {} ({})", recording.path,
                            node.name, node.op),
                meta::first_line(error), "--mode inference profiles the forward pass alone.");
  }
}

void StepRun::backward(const ClosingRows& rows) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<at::Tensor> differentiable;
  for (const at::Tensor& output : outputs_)
    if (output.requires_grad()) differentiable.push_back(output);
  if (differentiable.empty()) {
    recorder_->recording().warnings.emplace_back(
        "no output needs a gradient: there is no backward pass");
    return;
  }
  recorder_->enter(Phase::loss, rows.loss);
  recorder_->mark_sequence(rows.loss);
  const BackwardStart from = start_backward(differentiable, options_.loss);
  differentiable.clear();
  recorder_->mark_sequence(none);
  recorder_->enter(Phase::backward, rows.loss);
  torch::autograd::backward(from.roots, from.gradients);
  for (const at::Tensor& parameter : trained_)
    if (parameter.grad().defined())
      recorder_->set_storage_kind(meta::storage_id(parameter.grad()), StorageKind::gradient);
  backward_ms_ = milliseconds_since(start);
}

void StepRun::update(const ClosingRows& rows) {
  if (options_.optimizer == Optimizer::none) return;
  recorder_->enter(Phase::optimizer, rows.optimizer);
  step(trained_, optimizer_state_, options_.optimizer, options_.optimizer_variant);
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
