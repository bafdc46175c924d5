#include "measure/real/real_step.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "base/error.h"
#include "measure/real/leaves.h"
#include "meta/fake/convert.h"
#include "shape/interpreter/leaves.h"
#include "shape/lowering/real_tensor.h"
#include "shape/recipe/clip_gradients.h"
#include "shape/recipe/loss.h"
#include "shape/step/checkpoint.h"
#include "trace/graph/region_markers.h"

namespace symprof::measure::real {
namespace {

const c10::Device cpu{c10::kCPU};

/// torch.autocast("cpu", dtype), for as long as it lives.
class CpuAutocast {
 public:
  explicit CpuAutocast(std::optional<DType> dtype)
      : before_(at::autocast::is_autocast_enabled(at::kCPU)),
        dtype_before_(at::autocast::get_autocast_dtype(at::kCPU)) {
    if (!dtype) return;
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, meta::scalar_type(*dtype));
    is_on_ = true;
  }
  ~CpuAutocast() {
    if (!is_on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, before_);
    at::autocast::set_autocast_dtype(at::kCPU, dtype_before_);
  }
  CpuAutocast(const CpuAutocast&) = delete;
  CpuAutocast& operator=(const CpuAutocast&) = delete;

 private:
  bool before_, is_on_ = false;
  at::ScalarType dtype_before_;
};

/// Tells the clock whose turn it is.
class ClockedNodes final : public shape::NodeObserver {
 public:
  ClockedNodes(CallClock* clock, const std::vector<NodeId>& node_of)
      : clock_(clock), node_of_(node_of) {}

  void begin_node(std::size_t index) override {
    if (clock_ == nullptr) return;
    clock_->enter(Phase::forward, node_of_[index]);
    clock_->mark_sequence(node_of_[index]);
  }
  void end_node(std::size_t) override {}

 private:
  CallClock* clock_;
  const std::vector<NodeId>& node_of_;
};

void check(const StepOptions& options) {
  constexpr auto advice = "Leave it out to measure the step without.";
  if (options.grad_scaler)
    throw Error(SettingRef{"grad_scaler"}, "torch.amp.GradScaler is not run on the CPU.", advice);
  if (options.attention != AttentionBackend::automatic)
    throw Error(SettingRef{"attention"}, "which kernel runs on the CPU is PyTorch's choice there.",
                advice);
  if (!options.offload_saved.empty())
    throw Error(SettingRef{"offload_saved"}, "on the CPU, saved tensors are in host memory anyway.",
                advice);
  const auto keeps_calls = [](const CheckpointRegion& region) { return !region.kept.empty(); };
  if (std::ranges::any_of(options.checkpoint_plan.regions, keeps_calls))
    throw Error(SettingRef{"checkpoint"},
                "a plan that keeps outputs of single calls is not run on the CPU.",
                "Name modules instead of the plan.");
}

}  // namespace

RealStep::RealStep(const Graph& graph, const StepOptions& options)
    : graph_(graph),
      options_(options),
      interpreter_(
          graph, cpu,
          [](auto function, const auto& inputs, const shape::Rerun&) {
            return checkpoint(TensorsFunction(std::move(function)), inputs);
          },
          options.lifetimes),
      host_(trace::host_values(graph, trace::GraphPlace::outermost)) {
  check(options);
  make_leaves();
  interpreter_.compute_on_host(host_);
  if (trains() && options.master_weights) masters_.emplace(trained_);
  name_nodes();
}

void RealStep::make_leaves() {
  const std::vector<std::int64_t> bounds = bounds_of_inputs(graph_);
  for (std::size_t id = 0; id < graph_.values.size(); ++id)
    if (graph_.values[id].kind != ValueKind::result)
      interpreter_.set(static_cast<ValueId>(id), make_leaf(static_cast<ValueId>(id), bounds[id]));
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
  at::Tensor tensor = leaf(graph_, value, bound);
  const bool may_train = value.kind == ValueKind::parameter ||
                         (value.kind == ValueKind::input && graph_.format == "exported");
  if (trains() && may_train && value.requires_grad &&
      (tensor.is_floating_point() || tensor.is_complex()))
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

std::int64_t RealStep::run(CallClock* clock) {
  for (const at::Tensor& parameter : trained_) parameter.mutable_grad() = at::Tensor();
  const std::int64_t begin = now_ns();
  std::vector<at::Tensor> outputs;
  {
    const c10::AutoGradMode grad_mode(trains());
    std::optional<CpuAutocast> autocast(std::in_place, options_.autocast);
    outputs = forward(clock);
    if (trains()) backward(outputs, clock);
  }
  outputs.clear();
  interpreter_.clear_results();
  const std::int64_t passes = now_ns() - begin;
  return passes + (trains() && options_.optimizer != Optimizer::none ? update(clock) : 0);
}

std::vector<at::Tensor> RealStep::forward(CallClock* clock) {
  ClockedNodes nodes(clock, node_of_);
  interpreter_.run(nodes);
  std::vector<at::Tensor> outputs;
  for (const ValueId id : graph_.outputs)
    if (id != no_value && interpreter_.get(id).isTensor())
      outputs.push_back(interpreter_.get(id).toTensor());
  return outputs;
}

// The loss runs under autocast, as in a profile; backward does not look at it.
void RealStep::backward(const std::vector<at::Tensor>& outputs, CallClock* clock) {
  std::vector<at::Tensor> differentiable;
  for (const at::Tensor& output : outputs)
    if (output.requires_grad()) differentiable.push_back(output);
  if (differentiable.empty()) return;
  if (clock != nullptr) clock->enter(Phase::loss, loss_node_), clock->mark_sequence(loss_node_);
  const shape::BackwardStart from =
      shape::start_backward(shape::make_losses(differentiable, options_.loss), options_.loss);
  if (clock != nullptr) clock->mark_sequence(none), clock->enter(Phase::backward, loss_node_);
  const CpuAutocast without(std::nullopt);
  torch::autograd::backward(from.roots, from.gradients);
}

std::int64_t RealStep::update(CallClock* clock) {
  const at::NoGradGuard no_grad;
  const auto enter = [&](NodeId node) {
    if (clock != nullptr) clock->enter(Phase::optimizer, node);
  };
  enter(loss_node_ + 1);
  std::int64_t begin = now_ns();
  if (masters_) masters_->take_gradients();
  const std::int64_t spent = now_ns() - begin;
  enter(none);
  shape::OptimizerStep optimizer(options_, masters_ ? masters_->updated() : trained_);
  if (optimizer.gradients().empty()) return spent;
  optimizer.make_states();
  enter(loss_node_ + 1);
  begin = now_ns();
  if (options_.clip_grad_norm) shape::clip_grad_norm(optimizer.gradients());
  optimizer.run();
  if (masters_) masters_->give_to_model();
  return spent + now_ns() - begin;
}

}  // namespace symprof::measure::real
