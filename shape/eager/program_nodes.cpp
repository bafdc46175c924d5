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

/// A batch comes to the device by one of these.
bool is_copy(const std::string& op) {
  return op == "aten::to" || op == "aten::_to_copy" || op == "aten::cuda";
}

/// Of the mask that it makes for its kernel (`convert_boolean_attn_mask` in
/// ATen/native/transformers/attention.cpp) a program sees nothing, and each layer makes it anew.
bool keeps_values_to_itself(const at::RecordFunction& function) {
  return function.operator_name()->name == "aten::scaled_dot_product_attention";
}

}  // namespace

ProgramNodes::ProgramNodes(Recorder& recorder, std::function<std::string()> place)
    : recorder_(recorder),
      calls_(recorder),
      place_(std::move(place)),
      outer_(std::exchange(current_program, this)) {
  module_at("", "");
  start_step();
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

// What follows backward outside of every module prepares the update: scaling, clipping, logging.
void ProgramNodes::begin_call(const at::RecordFunction& function) {
  if (depth_++ > 0) return;
  meta::set_following(!keeps_values_to_itself(function));
  if (optimizer_depth_ > 0) return;
  const std::string op = function.operator_name()->name;
  if (backward_depth_ > 0) return begin_in_backward(op);
  if (is_after_backward_ && modules_.empty()) {
    node_ = none;
    return recorder_.enter(Phase::optimizer, optimizer_);
  }
  const std::vector<at::Tensor> inputs = tensors_of(function.inputs());
  take_over(inputs);
  node_ = add_node({module(), op, place_()});
  recorder_.enter(Phase::forward, node_);
  recorder_.mark_sequence(node_);
  touches_device_ = std::ranges::any_of(inputs, meta::is_fake);
  comes_from_host_ = modules_.empty() && is_copy(op) && !touches_device_;
  add_call_inputs(node_, inputs, recorder_);
}

// Tensors of a simulation that has ended were there before the call.
void ProgramNodes::take_over(const std::vector<at::Tensor>& inputs) {
  recorder_.enter(Phase::forward, none);
  for (const at::Tensor& tensor : inputs)
    if (meta::is_fake(tensor)) meta::announce(tensor);
}

// The engine turns gradient mode off, and a checkpoint that runs its forward again turns it on.
void ProgramNodes::begin_in_backward(const std::string& op) {
  node_ = none;
  if (at::GradMode::is_enabled()) {
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
  record(node_).outputs.clear();
  for (const at::Tensor& tensor : tensors_of(function.outputs())) {
    touches_device_ |= meta::is_fake(tensor);
    add_node_output(node_, tensor, recorder_);
    if (comes_from_host_ && meta::storage_id(tensor) != none)
      recorder_.set_storage_kind(meta::storage_id(tensor), StorageKind::input);
  }
  if (!touches_device_) forget_node();
  node_ = none;
}

// Calls on real tensors are the host's own.
void ProgramNodes::forget_node() {
  std::vector<NodeRecord>& nodes = recorder_.recording().nodes;
  if (static_cast<std::size_t>(node_) + 1 != nodes.size()) return;
  nodes.pop_back();
  nodes_here_->pop_back();
  recorder_.enter(Phase::forward, steps_.back().first_node);
}

NodeId ProgramNodes::recomputed_node(const Place& place) {
  const auto found = nodes_at_.find(place);
  if (found == nodes_at_.end() || found->second.empty()) return steps_.back().first_node;
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

// A module may be known by its path alone, from one that lies in it.
std::int32_t ProgramNodes::module_at(const std::string& path, const std::string& type) {
  const std::int32_t id = calls_.module_at(path, "");
  std::string& known = recorder_.recording().modules[static_cast<std::size_t>(id)].type;
  if (known.empty()) known = type;
  return id;
}

void ProgramNodes::enter_module(const std::string& path, const std::string& type) {
  modules_.push_back(module_at(path, type));
}

void ProgramNodes::leave_module() {
  if (!modules_.empty()) modules_.pop_back();
}

void ProgramNodes::enter_backward() {
  if (backward_depth_++ > 0) return;
  recorder_.mark_sequence(none);
  recorder_.enter(Phase::backward, steps_.back().first_node);
}

void ProgramNodes::leave_backward() {
  if (backward_depth_ == 0 || --backward_depth_ > 0) return;
  if (std::exchange(recomputes_, false)) recorder_.recompute(none);
  is_after_backward_ = true;
  recorder_.enter(Phase::optimizer, optimizer_);
}

void ProgramNodes::enter_optimizer() {
  if (optimizer_depth_++ == 0) recorder_.enter(Phase::optimizer, optimizer_);
}

void ProgramNodes::leave_optimizer() {
  if (optimizer_depth_ == 0 || --optimizer_depth_ > 0) return;
  start_step();
}

std::vector<ProgramStep> ProgramNodes::steps() const {
  std::vector<ProgramStep> steps = steps_;
  const Recording& recording = recorder_.recording();
  steps.back().end_call = static_cast<CallId>(recording.calls.size());
  steps.back().end_node = static_cast<NodeId>(recording.nodes.size());
  steps.back().end_event = recording.events.size();
  return steps;
}

// A step's first node has what no other one has, its second the update.
void ProgramNodes::start_step() {
  Recording& recording = recorder_.recording();
  if (!steps_.empty()) steps_ = steps();
  const auto first = static_cast<NodeId>(recording.nodes.size());
  recording.nodes.push_back({.name = "other", .op = "other", .kind = NodeKind::loss});
  recording.nodes.push_back({.name = "optimizer", .op = "optimizer", .kind = NodeKind::optimizer});
  steps_.push_back({.first_call = static_cast<CallId>(recording.calls.size()),
                    .first_node = first,
                    .first_event = recording.events.size()});
  optimizer_ = first + 1;
  is_after_backward_ = false;
  calls_.restart_names();
  nodes_at_.clear();
  recorder_.forget_claims();
  recorder_.mark_sequence(none);
  recorder_.enter(Phase::forward, first);
}

}  // namespace symprof::shape
