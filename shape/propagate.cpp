#include "shape/propagate.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>

#include "meta/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "shape/loss.h"
#include "shape/node_records.h"
#include "shape/optimizer.h"
#include "shape/recorder.h"
#include "trace/interpreter/arguments.h"
#include "trace/interpreter/interpreter.h"

namespace symprof::shape {
namespace {

const c10::Device cuda{c10::kCUDA, 0};

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

// One step, from the leaves to the optimizer. Everything fake lives and dies in here.
class Step {
 public:
  Step(const Graph& graph, const StepOptions& options)
      : graph_(graph),
        options_(options),
        recorder_(std::make_shared<Recorder>()),
        mode_({.device = options.device, .forced = forced_backend(options.attention)}, recorder_),
        interpreter_(graph, cuda),
        nodes_(graph, interpreter_, *recorder_, options.progress) {}

  Recording run() {
    make_leaves();
    forward();
    if (options_.mode != Mode::inference) after_forward();
    Recording recording = recorder_->take();
    recording.forward_ms = forward_ms_;
    recording.backward_ms = backward_ms_;
    return recording;
  }

 private:
  void make_leaves() {
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      if (value.kind != ValueKind::result && value.kind != ValueKind::input)
        interpreter_.set(static_cast<ValueId>(id), leaf(value));
    }
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      recorder_->enter(Phase::forward, nodes_.input_node(i));
      recorder_->set_kind(StorageKind::input);
      interpreter_.set(graph_.inputs[i],
                       input(graph_.values[static_cast<std::size_t>(graph_.inputs[i])]));
      nodes_.finish_input(i);
    }
    recorder_->enter(Phase::forward, none);
    recorder_->set_kind(StorageKind::optimizer_state);
    if (options_.mode != Mode::inference)
      optimizer_state_ = make_state(parameters_, options_.optimizer, options_.optimizer_variant);
    recorder_->set_kind(StorageKind::activation);
  }

  c10::IValue leaf(const Value& value) {
    if (value.kind == ValueKind::constant && stays_real(value))
      return trace::real_tensor(*value.constant);
    if (!value.storage_key.empty()) {
      const auto tied = tied_.find(value.storage_key);
      if (tied != tied_.end()) return tied->second;
    }
    const bool is_parameter = value.kind == ValueKind::parameter;
    recorder_->set_kind(is_parameter ? StorageKind::parameter : StorageKind::buffer);
    at::Tensor tensor = meta::make_fake(spec_of(value));
    if (is_parameter) {
      recorder_->recording().parameter_count += tensor.numel();
      if (value.requires_grad && tensor.is_floating_point() && options_.mode != Mode::inference) {
        tensor.set_requires_grad(true);
        parameters_.push_back(tensor);
      }
    }
    if (!value.storage_key.empty()) tied_.emplace(value.storage_key, tensor);
    return tensor;
  }

  // ONNX computes shapes with tensors: its integer constants, and scalars, have real values.
  bool stays_real(const Value& value) const {
    if (graph_.format != "onnx" || value.constant == nullptr) return false;
    return !is_floating_point(value.constant->spec.dtype) || value.constant->spec.sizes.empty();
  }

  c10::IValue input(const Value& value) const {
    if (value.scalar)
      return std::visit([](auto number) { return c10::IValue(number); }, *value.scalar);
    return meta::make_fake(spec_of(value));
  }

  const TensorSpec& spec_of(const Value& value) const {
    if (value.spec) return *value.spec;
    throw Error(graph_.path, fmt::format("{} has no known shape", value.name),
                "Give it with --input.");
  }

  void forward() {
    const auto start = std::chrono::steady_clock::now();
    const AutocastRegion autocast(options_.autocast);
    const c10::AutoGradMode grad_mode(options_.mode != Mode::inference);
    interpreter_.run(nodes_);
    for (ValueId id : graph_.outputs)
      if (id != no_value && interpreter_.get(id).isTensor())
        outputs_.push_back(interpreter_.get(id).toTensor());
    nodes_.finish_outputs(outputs_);
    interpreter_.clear_results();
    forward_ms_ = milliseconds_since(start);
  }

  // Errors of the forward pass name their node; out here the recorder knows whose turn it was.
  void after_forward() {
    try {
      backward();
      update();
    } catch (const c10::Error& error) {
      const NodeRecord& node =
          recorder_->recording().nodes.at(static_cast<std::size_t>(recorder_->current_node()));
      const std::string text = error.what_without_backtrace();
      throw Error(fmt::format("{}: after the forward pass, for node {} ({})", graph_.path,
                              node.name, node.op),
                  text.substr(0, text.find('\n')),
                  "--mode inference profiles the forward pass alone.");
    }
  }

  void backward() {
    const auto start = std::chrono::steady_clock::now();
    std::vector<at::Tensor> differentiable;
    for (const at::Tensor& output : outputs_)
      if (output.requires_grad()) differentiable.push_back(output);
    if (differentiable.empty()) {
      recorder_->recording().warnings.emplace_back(
          "no output needs a gradient: there is no backward pass");
      return;
    }
    recorder_->enter(Phase::loss, nodes_.loss_node());
    recorder_->mark_sequence(nodes_.loss_node());
    const BackwardStart from = start_backward(differentiable, options_.loss);
    differentiable.clear();
    recorder_->mark_sequence(none);
    recorder_->enter(Phase::backward, nodes_.loss_node());
    torch::autograd::backward(from.roots, from.gradients);
    for (const at::Tensor& parameter : parameters_)
      if (parameter.grad().defined())
        recorder_->set_storage_kind(meta::storage_id(parameter.grad()), StorageKind::gradient);
    backward_ms_ = milliseconds_since(start);
  }

  void update() {
    if (options_.optimizer == Optimizer::none) return;
    recorder_->enter(Phase::optimizer, nodes_.optimizer_node());
    step(parameters_, optimizer_state_, options_.optimizer, options_.optimizer_variant);
  }

  const Graph& graph_;
  const StepOptions& options_;
  std::shared_ptr<Recorder> recorder_;
  meta::FakeMode mode_;
  trace::Interpreter interpreter_;
  NodeRecords nodes_;
  std::vector<at::Tensor> parameters_;  // Those that are trained.
  std::map<std::string, at::Tensor> tied_;
  std::vector<at::Tensor> outputs_;
  OptimizerState optimizer_state_;
  double forward_ms_ = 0, backward_ms_ = 0;
};

}  // namespace

Recording propagate(const Graph& graph, const StepOptions& options) {
  return Step(graph, options).run();
}

}  // namespace symprof::shape
