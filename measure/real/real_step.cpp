#include "measure/real/real_step.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "measure/real/device.h"
#include "measure/real/leaves.h"
#include "meta/fake/convert.h"
#include "shape/interpreter/leaves.h"
#include "shape/lowering/real_tensor.h"
#include "shape/recipe/clip_gradients.h"
#include "shape/recipe/loss.h"
#include "shape/recipe/optimizers/optimizers.h"
#include "shape/step/checkpoint.h"
#include "trace/graph/region_markers.h"

namespace symprof::measure::real {
namespace {

/// torch.autocast(device, dtype) during its lifetime.
class Autocast {
 public:
  Autocast(c10::DeviceType device, std::optional<DType> dtype)
      : device_(device),
        before_(at::autocast::is_autocast_enabled(device)),
        dtype_before_(at::autocast::get_autocast_dtype(device)) {
    if (!dtype) return;
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, meta::scalar_type(*dtype));
    is_on_ = true;
  }
  ~Autocast() {
    if (!is_on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, before_);
    at::autocast::set_autocast_dtype(device_, dtype_before_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
  bool before_, is_on_ = false;
  at::ScalarType dtype_before_;
};

/// Tells CallPlaces the current node.
class PlacedNodes final : public shape::NodeObserver {
 public:
  PlacedNodes(CallPlaces& places, const std::vector<NodeId>& node_of)
      : places_(places), node_of_(node_of) {}

  void begin_node(std::size_t index) override {
    places_.enter(Phase::forward, node_of_[index]);
    places_.mark_sequence(node_of_[index]);
  }
  void end_node(std::size_t) override {}

 private:
  CallPlaces& places_;
  const std::vector<NodeId>& node_of_;
};

/// Marks a checkpoint's recompute during its lifetime.
class Again {
 public:
  Again(CallPlaces& places, NodeId node) : places_(places) { places_.begin_recompute(node); }
  ~Again() { places_.end_recompute(); }
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  CallPlaces& places_;
};

void check(const StepOptions& options) {
  constexpr auto advice = "Leave it out to measure the step without.";
  if (options.attention != AttentionBackend::automatic)
    throw Error(SettingRef{"attention"}, "which kernel really runs is PyTorch's choice.", advice);
  if (!options.offload_saved.empty())
    throw Error(SettingRef{"offload_saved"}, "saved tensors stay on the device in a real step.",
                advice);
  const auto keeps_calls = [](const CheckpointRegion& region) { return !region.kept.empty(); };
  if (std::ranges::any_of(options.checkpoint_plan.regions, keeps_calls))
    throw Error(SettingRef{"checkpoint"},
                "a plan that keeps outputs of single calls is not run on real tensors.",
                "Name modules instead of the plan.");
}

}  // namespace

RealStep::RealStep(const Graph& graph, const StepOptions& options, c10::Device device)
    : graph_(graph),
      options_(options),
      device_(device),
      matmul_precision_(options.float32_matmul_precision),
      interpreter_(graph, device, recompute(), options.lifetimes),
      host_(trace::host_values(graph, trace::GraphPlace::outermost)) {
  check(options);
  const shape::MakeOn make_on(device_);
  make_leaves();
  interpreter_.compute_on_host(host_);
  if (trains() && options.master_weights) masters_.emplace(trained_);
  // With a scale of 1 no gradient overflows, which would skip an update.
  if (trains() && options.grad_scaler) scaler_.emplace().set_scale(1);
  name_nodes();
}

shape::Recompute RealStep::recompute() {
  return [this](auto function, const auto& inputs, const shape::Rerun&) {
    const auto once = [this, function = std::move(function), node = places_.node(),
                       has_run = false](const std::vector<at::Tensor>& given) mutable {
      if (!std::exchange(has_run, true)) return function(given);
      const Again again(places_, node);
      return function(given);
    };
    return checkpoint(TensorsFunction(once), inputs);
  };
}

void RealStep::make_leaves() {
  const std::vector<std::int64_t> bounds = bounds_of_inputs(graph_);
  // A file may have inputs that its graph does not use.
  const std::set<ValueId> inputs(graph_.inputs.begin(), graph_.inputs.end());
  for (std::size_t i = 0; i < graph_.values.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const ValueKind kind = graph_.values[i].kind;
    if (kind == ValueKind::result || (kind == ValueKind::input && !inputs.contains(id))) continue;
    interpreter_.set(id, make_leaf(id, bounds[i]));
  }
}

c10::IValue RealStep::make_leaf(ValueId id, std::int64_t bound) {
  const Value& value = graph_.values[static_cast<std::size_t>(id)];
  if (value.kind == ValueKind::input && value.scalar)
    return std::visit([](auto number) { return c10::IValue(number); }, *value.scalar);
  if (shape::stays_real(graph_, value) ||
      (value.kind != ValueKind::input && host_.values[static_cast<std::size_t>(id)]))
    return lowering::real_tensor(*value.constant);
  if (!value.storage_key.empty())
    if (const auto known = tied_.find(value.storage_key); known != tied_.end())
      return known->second;
  at::Tensor tensor = leaf(graph_, value, bound, device_);
  // A module's parameters require gradients in evaluation too, and autocast caches casts of such
  // tensors.
  const bool may_train =
      value.kind == ValueKind::parameter ||
      (trains() && value.kind == ValueKind::input && graph_.traits.knows_input_gradients);
  if (may_train && value.requires_grad && (tensor.is_floating_point() || tensor.is_complex()))
    tensor.set_requires_grad(true);
  if (value.kind == ValueKind::parameter && tensor.requires_grad()) trained_.push_back(tensor);
  if (!value.storage_key.empty()) tied_.emplace(value.storage_key, tensor);
  return tensor;
}

/// In the order of shape/step/node_records.cpp: inputs, nodes, output, loss, optimizer.
void RealStep::name_nodes() {
  for (const ValueId id : graph_.inputs)
    names_.emplace_back(graph_.values[static_cast<std::size_t>(id)].name, "input");
  for (const Node& node : graph_.nodes) {
    node_of_.push_back(trace::is_region_marker(node) ? none : static_cast<NodeId>(names_.size()));
    if (node_of_.back() != none) names_.emplace_back(node.name, node.op);
  }
  for (const char* closing : {"output", "loss", "optimizer"}) {
    if (closing == std::string_view("loss")) loss_node_ = static_cast<NodeId>(names_.size());
    names_.emplace_back(closing, closing);
  }
}

// Values that explode or vanish over the steps would change kernel times: a GPU's power and a CPU's
// denormals depend on them.
void RealStep::prepare() {
  const at::NoGradGuard no_grad;
  places_.enter(Phase::forward, none);
  for (const at::Tensor& parameter : trained_) {
    parameter.mutable_grad() = at::Tensor();
    if (optimizer_) draw(parameter);
  }
  wait_for(device_);
}

RealStep::Duration RealStep::run() {
  const shape::MakeOn make_on(device_);
  places_.forget_marks();
  const std::int64_t begin = now_ns();
  {
    const c10::AutoGradMode grad_mode(trains());
    shape::BackwardStart from;
    {
      // Autocast's copies of weights end with the loss.
      const Autocast autocast(device_.type(), options_.autocast);
      std::vector<at::Tensor> outputs = forward();
      if (trains())
        from = loss(outputs);
      else
        last_outputs_ = std::move(outputs);  // Keeps outputs alive as a loop's `output =
                                             // model(input)` does, as in a profile.
    }
    backward(from);
  }
  interpreter_.clear_results();
  const bool updates = trains() && options_.optimizer != Optimizer::none;
  const std::int64_t once = updates ? update() : 0;
  const std::int64_t issued = now_ns();
  wait_for(device_);
  return {.ns = now_ns() - begin - once, .host_ns = issued - begin - once};
}

std::vector<at::Tensor> RealStep::forward() {
  PlacedNodes nodes(places_, node_of_);
  interpreter_.run(nodes);
  std::vector<at::Tensor> outputs;
  for (const ValueId id : graph_.outputs)
    if (id != no_value && interpreter_.get(id).isTensor())
      outputs.push_back(interpreter_.get(id).toTensor());
  return outputs;
}

shape::BackwardStart RealStep::loss(const std::vector<at::Tensor>& outputs) {
  std::vector<at::Tensor> differentiable;
  for (const at::Tensor& output : outputs)
    if (output.requires_grad()) differentiable.push_back(output);
  if (differentiable.empty()) return {};
  places_.enter(Phase::loss, loss_node_);
  places_.mark_sequence(loss_node_);
  const std::vector<at::Tensor> losses = shape::make_losses(differentiable, options_.loss);
  shape::BackwardStart from =
      shape::start_backward(scaler_ ? scaler_->scale(losses) : losses, options_.loss);
  places_.mark_sequence(none);
  return from;
}

void RealStep::backward(const shape::BackwardStart& from) {
  if (from.roots.empty()) return;
  places_.enter(Phase::backward, loss_node_);
  torch::autograd::backward(from.roots, from.gradients);
}

// Optimizer states are allocated in the first step: excluded from the time of other steps.
std::int64_t RealStep::update() {
  const at::NoGradGuard no_grad;
  places_.enter(Phase::optimizer, loss_node_ + 1);
  if (masters_) masters_->take_gradients();
  std::int64_t once = 0;
  if (optimizer_) {
    optimizer_->take_gradients();
  } else {
    wait_for(device_);
    const std::int64_t begin = now_ns();
    optimizer_.emplace(options_, masters_ ? masters_->updated() : trained_);
    optimizer_->make_states();
    wait_for(device_);
    once = now_ns() - begin;
  }
  if (optimizer_->gradients().empty()) return once;
  run_update();
  optimizer_->release_gradients();
  if (masters_) masters_->give_to_model();
  return once;
}

// As StepRun::run_update (shape/step/step_run.cpp), except that the grad scaler reads its found_inf
// on the host.
void RealStep::run_update() {
  const shape::Tensors& gradients = optimizer_->gradients();
  if (options_.clip_grad_norm) {
    if (scaler_) scaler_->unscale(gradients);
    shape::clip_grad_norm(gradients);
  }
  if (!scaler_) return optimizer_->run();
  const bool is_fused = optimizer_->variant() == OptimizerVariant::fused;
  const shape::FusedScaling scaling = scaler_->before_step(gradients, optimizer_->variant());
  if (is_fused || !scaler_->found_inf()) optimizer_->run(scaling);
  scaler_->update();
}

}  // namespace symprof::measure::real
