#include "shape/step/module_nodes.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "meta/fake/fake_tensor.h"
#include "shape/step/node_tensors.h"

namespace symprof::shape {
namespace {

thread_local ModuleNodes* current_nodes = nullptr;

}  // namespace

ModuleNodes* ModuleNodes::current() { return current_nodes; }

ModuleNodes::ModuleNodes(const torch::nn::Module& module, Recorder& recorder)
    : recorder_(recorder), calls_(recorder), outer_(std::exchange(current_nodes, this)) {
  for (const auto& item : module.named_modules()) {
    const std::int32_t id = module_at(item.key());
    recorder_.recording().modules[static_cast<std::size_t>(id)].type = item.value()->name();
    module_ids_.emplace(item.value().get(), id);
    for (const bool parameters : {true, false}) {
      const auto own = parameters ? item.value()->named_parameters(/*recurse=*/false)
                                  : item.value()->named_buffers(/*recurse=*/false);
      for (const auto& tensor : own)
        if (meta::is_fake(tensor.value()))
          owners_.try_emplace(meta::storage_id(tensor.value()), id);
    }
  }
  callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&on_begin, &on_end)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
}

ModuleNodes::~ModuleNodes() {
  at::removeCallback(callback_);
  current_nodes = outer_;
}

std::unique_ptr<at::ObserverContext> ModuleNodes::on_begin(const at::RecordFunction& function) {
  if (current_nodes != nullptr && current_nodes->listening_) current_nodes->begin_call(function);
  return nullptr;
}

void ModuleNodes::on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (current_nodes != nullptr && current_nodes->listening_) current_nodes->end_call(function);
}

void ModuleNodes::begin_call(const at::RecordFunction& function) {
  if (!function.operator_name() || depth_++ > 0) return;
  const std::vector<at::Tensor> inputs = tensors_of(function.inputs());
  if (!scopes_.empty() && scopes_.back().node != none)
    node_ = scopes_.back().node;
  else
    node_ = next_node(function.operator_name()->name, module_of(inputs));
  if (!replays_.empty()) return recorder_.recompute(node_);
  recorder_.enter(Phase::forward, node_);
  recorder_.mark_sequence(node_);
  add_call_inputs(node_, inputs, recorder_);
}

void ModuleNodes::end_call(const at::RecordFunction& function) {
  if (!function.operator_name() || depth_ == 0 || --depth_ > 0) return;
  if (!replays_.empty()) return;
  record(node_).outputs.clear();
  for (const at::Tensor& tensor : tensors_of(function.outputs()))
    add_node_output(node_, tensor, recorder_);
}

bool ModuleNodes::is_inside(std::int32_t module, std::int32_t scope) const {
  const std::vector<ModuleRecord>& modules = recorder_.recording().modules;
  const std::string& inner = modules[static_cast<std::size_t>(module)].path;
  const std::string& outer = modules[static_cast<std::size_t>(scope)].path;
  return outer.empty() || inner == outer || inner.starts_with(outer + ".");
}

std::int32_t ModuleNodes::module_of(std::span<const at::Tensor> inputs) {
  std::int32_t owner = none;
  for (const at::Tensor& tensor : inputs) {
    const auto found = owners_.find(meta::storage_id(tensor));
    if (found == owners_.end()) continue;
    owner = found->second;
    break;
  }
  if (!scopes_.empty()) {
    const std::int32_t scope = scopes_.back().module;
    return owner != none && is_inside(owner, scope) ? owner : scope;
  }
  if (owner != none) module_ = owner;
  return module_;
}

// A recomputed checkpoint repeats the calls of its first run, so their nodes exist.
NodeId ModuleNodes::next_node(const std::string& op, std::int32_t module) {
  if (replays_.empty()) return calls_.add(op, module);
  Replay& replay = replays_.back();
  return replay.next < replay.region.end ? replay.next++ : replay.region.node;
}

NodeId ModuleNodes::add_input_node(const std::string& name) {
  Recording& recording = recorder_.recording();
  recording.nodes.push_back({.name = name, .op = "input", .kind = NodeKind::input});
  return static_cast<NodeId>(recording.nodes.size()) - 1;
}

// In a recomputed checkpoint the nodes and their modules exist.
void ModuleNodes::open_scope(const std::string& name, ScopeNodes nodes) {
  if (!replays_.empty()) return push_scope(module_, name, nodes);
  const std::int32_t outer = scopes_.empty() ? 0 : scopes_.back().module;
  const std::string& path = recorder_.recording().modules[static_cast<std::size_t>(outer)].path;
  push_scope(module_at(path.empty() ? name : path + "." + name), name, nodes);
}

void ModuleNodes::open_scope(const torch::nn::Module& module, ScopeNodes nodes) {
  const auto found = module_ids_.find(&module);
  push_scope(found == module_ids_.end() ? module_ : found->second, module.name(), nodes);
}

void ModuleNodes::push_scope(std::int32_t module, const std::string& op, ScopeNodes nodes) {
  OpenScope scope{.module = module, .module_before = module_};
  if (!scopes_.empty() && scopes_.back().node != none)
    scope.node = scopes_.back().node;
  else if (nodes == ScopeNodes::one && listening_)
    scope.node = next_node(op, module);
  scopes_.push_back(scope);
}

void ModuleNodes::close_scope() {
  module_ = scopes_.back().module_before;
  scopes_.pop_back();
}

// Scopes with a single node, and nested calls, are not split.
void ModuleNodes::split_node(const at::Tensor& product, const at::Tensor& bias) {
  if (!listening_ || depth_ != 1 || (!scopes_.empty() && scopes_.back().node != none)) return;
  const std::int32_t module = module_of({&bias, 1});
  if (!replays_.empty()) {
    node_ = next_node("aten::add", module);
    return recorder_.recompute(node_);
  }
  const StorageId storage = meta::storage_id(bias);
  NodeRecord& before = record(node_);
  std::erase(before.parameters, storage);
  std::erase_if(before.inputs, [&](const TensorRecord& input) { return input.storage == storage; });
  recorder_.release_parameter(storage, node_);
  add_node_output(node_, product, recorder_);
  node_ = next_node("aten::add", module);
  recorder_.enter(Phase::forward, node_);
  recorder_.mark_sequence(node_);
  add_node_input(node_, product, recorder_);
  add_node_input(node_, bias, recorder_);
}

ModuleNodes::Region ModuleNodes::begin_checkpoint() {
  if (!listening_) return {};
  Region region{.node = next_node("symprof::checkpoint", module_of({}))};
  if (!replays_.empty()) {
    recorder_.recompute(region.node);
  } else {
    recorder_.enter(Phase::forward, region.node);
    recorder_.mark_sequence(region.node);
  }
  return region;
}

void ModuleNodes::end_checkpoint(Region& region) {
  region.end = replays_.empty() ? static_cast<NodeId>(recorder_.recording().nodes.size())
                                : replays_.back().next;
}

void ModuleNodes::begin_recompute(const Region& region) {
  replays_.push_back({region, region.node + 1, std::exchange(listening_, true)});
  recorder_.recompute(region.node);
}

void ModuleNodes::end_recompute() {
  listening_ = replays_.back().was_listening;
  replays_.pop_back();
  recorder_.recompute(none);
}

}  // namespace symprof::shape
