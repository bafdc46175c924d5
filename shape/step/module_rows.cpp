#include "shape/step/module_rows.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "meta/fake/fake_tensor.h"
#include "shape/step/rows.h"

namespace symprof::shape {
namespace {

thread_local ModuleRows* current_rows = nullptr;

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& out) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) out.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) append_tensors(element, out);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) append_tensors(element, out);
  }
}

template <class Values>
std::vector<at::Tensor> tensors_of(const Values& values) {
  std::vector<at::Tensor> result;
  for (const c10::IValue& value : values) append_tensors(value, result);
  return result;
}

}  // namespace

ModuleRows* ModuleRows::current() { return current_rows; }

ModuleRows::ModuleRows(const torch::nn::Module& module, Recorder& recorder)
    : recorder_(recorder), outer_(std::exchange(current_rows, this)) {
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

ModuleRows::~ModuleRows() {
  at::removeCallback(callback_);
  current_rows = outer_;
}

std::unique_ptr<at::ObserverContext> ModuleRows::on_begin(const at::RecordFunction& function) {
  if (current_rows != nullptr && current_rows->listening_) current_rows->begin_call(function);
  return nullptr;
}

void ModuleRows::on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (current_rows != nullptr && current_rows->listening_) current_rows->end_call(function);
}

void ModuleRows::begin_call(const at::RecordFunction& function) {
  if (!function.operator_name() || depth_++ > 0) return;
  const std::vector<at::Tensor> inputs = tensors_of(function.inputs());
  if (!scopes_.empty() && scopes_.back().row != none)
    row_ = scopes_.back().row;
  else
    row_ = next_row(function.operator_name()->name, module_of(inputs));
  if (!replays_.empty()) return recorder_.recompute(row_);
  recorder_.enter(Phase::forward, row_);
  recorder_.mark_sequence(row_);
  const auto& storages = recorder_.recording().storages;
  for (const at::Tensor& tensor : inputs) {
    const StorageId storage = meta::storage_id(tensor);
    const bool made_here =
        storage != none && storages[static_cast<std::size_t>(storage)].node == row_;
    if (!made_here) add_row_input(row_, tensor, recorder_);
  }
}

void ModuleRows::end_call(const at::RecordFunction& function) {
  if (!function.operator_name() || depth_ == 0 || --depth_ > 0) return;
  if (!replays_.empty()) return;
  record(row_).outputs.clear();
  for (const at::Tensor& tensor : tensors_of(function.outputs()))
    add_row_output(row_, tensor, recorder_);
}

// Modules around it are added with it: a row folds into all of them.
std::int32_t ModuleRows::module_at(const std::string& path) {
  const auto found = paths_.find(path);
  if (found != paths_.end()) return found->second;
  const std::size_t dot = path.rfind('.');
  if (dot != std::string::npos) module_at(path.substr(0, dot));
  std::vector<ModuleRecord>& modules = recorder_.recording().modules;
  const auto id = static_cast<std::int32_t>(modules.size());
  modules.push_back({path, "scope"});
  paths_.emplace(path, id);
  return id;
}

bool ModuleRows::is_inside(std::int32_t module, std::int32_t scope) const {
  const std::vector<ModuleRecord>& modules = recorder_.recording().modules;
  const std::string& inner = modules[static_cast<std::size_t>(module)].path;
  const std::string& outer = modules[static_cast<std::size_t>(scope)].path;
  return outer.empty() || inner == outer || inner.starts_with(outer + ".");
}

std::int32_t ModuleRows::module_of(std::span<const at::Tensor> inputs) {
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

// A checkpoint that runs again makes the calls of its first run, so their rows are there.
NodeId ModuleRows::next_row(const std::string& op, std::int32_t module) {
  if (replays_.empty()) return new_row(op, module);
  Replay& replay = replays_.back();
  return replay.next < replay.region.end ? replay.next++ : replay.region.row;
}

NodeId ModuleRows::new_row(const std::string& op, std::int32_t module) {
  Recording& recording = recorder_.recording();
  const std::string base = op.substr(op.rfind(':') + 1);
  const int uses = names_[base]++;
  const ModuleRecord& owner = recording.modules[static_cast<std::size_t>(module)];
  NodeRecord row{.name = uses == 0 ? base : base + "_" + std::to_string(uses),
                 .op = op,
                 .module = owner.path,
                 .module_type = owner.type};
  for (std::size_t dot = 0; dot != std::string::npos && !owner.path.empty();) {
    dot = owner.path.find('.', dot + 1);
    row.scopes.push_back(module_at(owner.path.substr(0, dot)));
  }
  recording.nodes.push_back(std::move(row));
  return static_cast<NodeId>(recording.nodes.size()) - 1;
}

NodeId ModuleRows::add_input_row(const std::string& name) {
  Recording& recording = recorder_.recording();
  recording.nodes.push_back({.name = name, .op = "input", .kind = NodeKind::input});
  return static_cast<NodeId>(recording.nodes.size()) - 1;
}

// In a checkpoint that runs again the rows are there, and with them their modules.
void ModuleRows::open_scope(const std::string& name, ScopeRows rows) {
  if (!replays_.empty()) return push_scope(module_, name, rows);
  const std::int32_t outer = scopes_.empty() ? 0 : scopes_.back().module;
  const std::string& path = recorder_.recording().modules[static_cast<std::size_t>(outer)].path;
  push_scope(module_at(path.empty() ? name : path + "." + name), name, rows);
}

void ModuleRows::open_scope(const torch::nn::Module& module, ScopeRows rows) {
  const auto found = module_ids_.find(&module);
  push_scope(found == module_ids_.end() ? module_ : found->second, module.name(), rows);
}

void ModuleRows::push_scope(std::int32_t module, const std::string& op, ScopeRows rows) {
  OpenScope scope{.module = module, .module_before = module_};
  if (!scopes_.empty() && scopes_.back().row != none)
    scope.row = scopes_.back().row;
  else if (rows == ScopeRows::one && listening_)
    scope.row = next_row(op, module);
  scopes_.push_back(scope);
}

void ModuleRows::close_scope() {
  module_ = scopes_.back().module_before;
  scopes_.pop_back();
}

// In a scope that is one row, and for calls inside a call, there is nothing to part.
void ModuleRows::split_row(const at::Tensor& product, const at::Tensor& bias) {
  if (!listening_ || depth_ != 1 || (!scopes_.empty() && scopes_.back().row != none)) return;
  const std::int32_t module = module_of({&bias, 1});
  if (!replays_.empty()) {
    row_ = next_row("aten::add", module);
    return recorder_.recompute(row_);
  }
  const StorageId storage = meta::storage_id(bias);
  NodeRecord& before = record(row_);
  std::erase(before.parameters, storage);
  std::erase_if(before.inputs, [&](const TensorRecord& input) { return input.storage == storage; });
  recorder_.release_parameter(storage, row_);
  add_row_output(row_, product, recorder_);
  row_ = next_row("aten::add", module);
  recorder_.enter(Phase::forward, row_);
  recorder_.mark_sequence(row_);
  add_row_input(row_, product, recorder_);
  add_row_input(row_, bias, recorder_);
}

ModuleRows::Region ModuleRows::begin_checkpoint() {
  if (!listening_) return {};
  Region region{.row = next_row("symprof::checkpoint", module_of({}))};
  if (!replays_.empty()) {
    recorder_.recompute(region.row);
  } else {
    recorder_.enter(Phase::forward, region.row);
    recorder_.mark_sequence(region.row);
  }
  return region;
}

void ModuleRows::end_checkpoint(Region& region) {
  region.end = replays_.empty() ? static_cast<NodeId>(recorder_.recording().nodes.size())
                                : replays_.back().next;
}

void ModuleRows::begin_recompute(const Region& region) {
  replays_.push_back({region, region.row + 1, std::exchange(listening_, true)});
  recorder_.recompute(region.row);
}

void ModuleRows::end_recompute() {
  listening_ = replays_.back().was_listening;
  replays_.pop_back();
  recorder_.recompute(none);
}

}  // namespace symprof::shape
