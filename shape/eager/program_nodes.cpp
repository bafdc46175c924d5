#include "shape/eager/program_nodes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "meta/fake/fake_tensor.h"
#include "meta/fake/followed_call.h"
#include "shape/step/node_tensors.h"

namespace symprof::shape {
namespace {

thread_local ProgramNodes* current_program = nullptr;

/// True for the operators that copy a batch to the device.
bool is_copy(const std::string& op) {
  return op == "aten::to" || op == "aten::_to_copy" || op == "aten::cuda";
}

/// True for attention: the program cannot see the mask that it makes for its kernel
/// (`convert_boolean_attn_mask` in ATen/native/transformers/attention.cpp), and each layer makes a
/// new one.
bool keeps_values_to_itself(const at::RecordFunction& function) {
  return function.operator_name()->name == "aten::scaled_dot_product_attention";
}

/// True if autograd records the call: reading a number, or detaching, makes no graph.
bool makes_graph(const std::string& op, const std::vector<at::Tensor>& inputs) {
  if (!at::GradMode::is_enabled() || op == "aten::detach" || op == "aten::item") return false;
  return std::ranges::any_of(inputs, [](const at::Tensor& input) { return input.requires_grad(); });
}

}  // namespace

ProgramNodes::ProgramNodes(Recorder& recorder, std::function<std::string()> place)
    : recorder_(recorder),
      calls_(recorder),
      place_(std::move(place)),
      outer_(std::exchange(current_program, this)),
      parts_(recorder.recording(), recorder.saves()) {
  module_at("", "");
  resume();
  callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&on_begin, &on_end)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
}

ProgramNodes::~ProgramNodes() {
  at::removeCallback(callback_);
  meta::set_following(true);
  current_program = outer_;
}

std::unique_ptr<at::ObserverContext> ProgramNodes::on_begin(const at::RecordFunction& function) {
  if (current_program != nullptr && function.operator_name()) current_program->begin_call(function);
  return nullptr;
}

void ProgramNodes::on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (current_program != nullptr && function.operator_name()) current_program->end_call(function);
}

void ProgramNodes::begin_call(const at::RecordFunction& function) {
  if (depth_++ > 0) return;
  meta::set_following(!keeps_values_to_itself(function));
  const std::string op = function.operator_name()->name;
  if (is_in(Scope::optimizer) && modules_.empty()) return;
  if (compiled_.is_in_code()) return begin_in_code(function, op);
  note_written_parameters(function, op);
  if (is_in(Scope::backward)) return begin_in_backward(op);
  const std::vector<at::Tensor> inputs = tensors_of(function.inputs());
  if (wrote_parameters_ && makes_graph(op, inputs)) end_step_of_written_parameters();
  take_over(inputs);
  if (parts_.is_behind_pass() && !belongs_to_pass(op, inputs)) parts_.leave_pass();
  node_ = add_node({module(), op, place_()});
  if (!makes_graph(op, inputs)) gradient_free_.push_back(node_);
  recorder_.enter(Phase::forward, node_);
  recorder_.mark_sequence(node_);
  touches_device_ = std::ranges::any_of(inputs, meta::is_fake);
  comes_from_host_ = modules_.empty() && is_copy(op) && !touches_device_;
  add_call_inputs(node_, inputs, recorder_);
}

// Calls on a model's results in evaluation (an accuracy, a mean of losses) belong to the
// evaluation; the next batch, zeroing of gradients, and calls that autograd records belong to the
// next step.
bool ProgramNodes::belongs_to_pass(const std::string& op,
                                   const std::vector<at::Tensor>& inputs) const {
  if (makes_graph(op, inputs)) return false;
  if (std::ranges::none_of(inputs, meta::is_fake)) return !inputs.empty() && !is_copy(op);
  const auto& storages = recorder_.recording().storages;
  return std::ranges::any_of(inputs, [&](const at::Tensor& input) {
    const StorageId storage = meta::storage_id(input);
    return storage != none &&
           storages[static_cast<std::size_t>(storage)].allocated_by >= parts_.first_call();
  });
}

// Tensors of a finished simulation existed before the call.
void ProgramNodes::take_over(const std::vector<at::Tensor>& inputs) {
  recorder_.enter(Phase::forward, none);
  for (const at::Tensor& tensor : inputs)
    if (meta::is_fake(tensor)) meta::announce(tensor);
}

// The engine turns gradient mode off, except in a backward pass with create_graph; the
// recomputation of a checkpoint turns it on.
void ProgramNodes::begin_in_backward(const std::string& op) {
  node_ = none;
  if (makes_graph_ ? !modules_.empty() : at::GradMode::is_enabled()) {
    if (!std::exchange(recomputes_, true)) recomputed_.clear();
    recorder_.recompute(recomputed_node({module(), op, place_()}));
  } else if (std::exchange(recomputes_, false)) {
    recorder_.recompute(none);
  }
}

void ProgramNodes::end_call(const at::RecordFunction& function) {
  if (depth_ == 0 || --depth_ > 0) return;
  meta::set_following(true);
  if (node_ == none) return;
  if (!compiled_.is_in_code()) record(node_).outputs.clear();
  for (const at::Tensor& tensor : tensors_of(function.outputs())) {
    touches_device_ |= meta::is_fake(tensor);
    add_node_output(node_, tensor, recorder_);
    if (comes_from_host_ && meta::storage_id(tensor) != none)
      recorder_.set_storage_kind(meta::storage_id(tensor), StorageKind::input);
  }
  if (!touches_device_ && !compiled_.is_in_code()) forget_node();
  node_ = none;
}

// Calls on real tensors are host calls and get no node. A tensor subclass may hide fake inner
// tensors: calls on those are seen.
void ProgramNodes::forget_node() {
  std::vector<NodeRecord>& nodes = recorder_.recording().nodes;
  const std::vector<CallRecord>& calls = recorder_.recording().calls;
  if (!calls.empty() && calls.back().node == node_) return;
  if (static_cast<std::size_t>(node_) + 1 != nodes.size()) return;
  nodes.pop_back();
  nodes_here_->pop_back();
  if (!gradient_free_.empty() && gradient_free_.back() == node_) gradient_free_.pop_back();
  recorder_.enter(Phase::forward, parts_.other());
}

NodeId ProgramNodes::recomputed_node(const Place& place) {
  const auto found = nodes_at_.find(place);
  if (found == nodes_at_.end() || found->second.empty()) return parts_.other();
  std::size_t& count = recomputed_[place];
  const std::vector<NodeId>& nodes = found->second;
  return nodes[std::min(count++, nodes.size() - 1)];
}

NodeId ProgramNodes::add_node(const Place& place) {
  const auto& [module, op, source] = place;
  const NodeId id = calls_.add(op, module);
  record(id).source = source;
  nodes_here_ = &nodes_at_[place];
  nodes_here_->push_back(id);
  return id;
}

// A module may have been added by the path of its submodule, without its type.
std::int32_t ProgramNodes::module_at(const std::string& path, const std::string& type) {
  const std::int32_t id = calls_.module_at(path, "");
  std::string& known = recorder_.recording().modules[static_cast<std::size_t>(id)].type;
  if (known.empty()) known = type;
  return id;
}

void ProgramNodes::enter_module(const std::string& path, const std::string& type) {
  if (modules_.empty() && !is_in(Scope::backward)) begin_pass(!at::GradMode::is_enabled());
  modules_.push_back(module_at(path, type));
}

void ProgramNodes::leave_module() {
  if (modules_.empty()) return;
  modules_.pop_back();
  if (!modules_.empty() || is_in(Scope::backward)) return;
  if (scopes_.empty()) parts_.end_gradient_free_pass();
  if (tail_node_ != none) begin_tail();
  resume();
}

void ProgramNodes::begin_pass(bool is_gradient_free) {
  if (!is_gradient_free) {
    end_step_of_written_parameters();
    parts_.note_forward();
  } else if (scopes_.empty()) {
    parts_.begin_gradient_free_pass();
  }
  resume();
}

void ProgramNodes::begin_tail() {
  tail_node_ = static_cast<NodeId>(recorder_.recording().nodes.size());
  tail_call_ = static_cast<CallId>(recorder_.recording().calls.size());
}

void ProgramNodes::enter(Scope scope) {
  scopes_.push_back(scope);
  resume();
}

void ProgramNodes::leave(Scope scope) {
  if (!is_in(scope)) return;
  scopes_.pop_back();
  resume();
}

/// Sets the recorder's node for calls between the program's own calls.
void ProgramNodes::resume() {
  if (is_in(Scope::backward))
    recorder_.enter(Phase::backward, parts_.other());
  else if (is_in(Scope::optimizer))
    recorder_.enter(Phase::optimizer, parts_.optimizer());
  else
    recorder_.enter(Phase::forward, parts_.other());
}

void ProgramNodes::enter_backward(bool makes_graph) {
  const bool is_within = std::ranges::find(scopes_, Scope::backward) != scopes_.end();
  if (!is_within) {
    tail_node_ = none;
    recorder_.mark_sequence(none);
    parts_.note_pass();
    makes_graph_ = makes_graph;
  }
  enter(Scope::backward);
}

void ProgramNodes::leave_backward() {
  leave(Scope::backward);
  if (std::ranges::find(scopes_, Scope::backward) != scopes_.end()) return;
  if (std::exchange(recomputes_, false)) recorder_.recompute(none);
  makes_graph_ = false;
  begin_tail();
  resume();
  if (std::exchange(updated_in_backward_, false) && scopes_.empty()) end_step(PartEnd::update);
}

void ProgramNodes::enter_optimizer(const ProgramOptimizer& optimizer) {
  parts_.leave_pass();
  if (scopes_.empty()) give_tail_to_optimizer();
  parts_.note_optimizer(optimizer);
  enter(Scope::optimizer);
}

void ProgramNodes::leave_optimizer() {
  if (!is_in(Scope::optimizer)) return;
  leave(Scope::optimizer);
  if (scopes_.empty()) return end_step(PartEnd::update);
  updated_in_backward_ |= is_in(Scope::backward);
}

void ProgramNodes::enter_closure() {
  enter(Scope::closure);
  parts_.note_forward();
}

void ProgramNodes::leave_closure() {
  tail_node_ = none;
  leave(Scope::closure);
}

void ProgramNodes::mark_step() { end_step(PartEnd::mark); }

// Scaling, clipping and logging between backward and the update belong to the update.
void ProgramNodes::give_tail_to_optimizer() {
  const NodeId first = std::exchange(tail_node_, none);
  Recording& recording = recorder_.recording();
  if (first == none || first > static_cast<NodeId>(recording.nodes.size())) return;
  const NodeId optimizer = parts_.optimizer();
  for (auto id = static_cast<std::size_t>(tail_call_); id < recording.calls.size(); ++id) {
    CallRecord& call = recording.calls[id];
    call.phase = Phase::optimizer;
    call.node = optimizer;
  }
  for (StorageRecord& storage : recording.storages)
    if (storage.node >= first) storage.node = optimizer;
  for (auto id = first; id < static_cast<NodeId>(recording.nodes.size()); ++id) {
    record(optimizer).upper_bound |= record(id).upper_bound;
    for (const StorageId parameter : record(id).parameters)
      recorder_.release_parameter(parameter, id);
  }
  for (auto& [place, nodes] : nodes_at_)
    std::erase_if(nodes, [first](NodeId node) { return node >= first; });
  std::erase_if(gradient_free_, [first](NodeId node) { return node >= first; });
  recording.nodes.resize(static_cast<std::size_t>(first));
  recorder_.mark_sequence(none);
}

}  // namespace symprof::shape
