#include "shape/step/call_nodes.h"

#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/TensorWrapper.h>

#include "meta/fake/fake_tensor.h"
#include "shape/step/node_tensors.h"

namespace symprof::shape {
namespace {

/// The tensor inside torch.func wrappers: a batch of vmap, a level of grad.
at::Tensor innermost(at::Tensor tensor) {
  for (;;) {
    if (const auto* batch = at::functorch::maybeGetBatchedImpl(tensor))
      tensor = at::Tensor(batch->value());
    else if (const auto* level = at::functorch::maybeGetTensorWrapper(tensor))
      tensor = at::Tensor(level->value());
    else
      return tensor;
  }
}

/// Skips nested tensors, which have no sizes; calls on their inner tensors are seen.
void append_tensor(const at::Tensor& tensor, std::vector<at::Tensor>& out) {
  if (tensor.defined() && !tensor.is_nested()) out.push_back(innermost(tensor));
}

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& out) {
  if (value.isTensor()) {
    append_tensor(value.toTensor(), out);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) append_tensors(element, out);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) append_tensors(element, out);
  }
}

}  // namespace

std::vector<at::Tensor> tensors_of(std::span<const c10::IValue> values) {
  std::vector<at::Tensor> result;
  for (const c10::IValue& value : values) append_tensors(value, result);
  return result;
}

void add_call_inputs(NodeId node, const std::vector<at::Tensor>& tensors, Recorder& recorder) {
  const auto& storages = recorder.recording().storages;
  for (const at::Tensor& tensor : tensors) {
    const StorageId storage = meta::storage_id(tensor);
    const bool made_here =
        storage != none && storages[static_cast<std::size_t>(storage)].node == node;
    if (!made_here) add_node_input(node, tensor, recorder);
  }
}

std::int32_t CallNodes::module_at(const std::string& path, const std::string& type) {
  const auto found = paths_.find(path);
  if (found != paths_.end()) return found->second;
  const std::size_t dot = path.rfind('.');
  if (dot != std::string::npos) module_at(path.substr(0, dot), type);
  std::vector<ModuleRecord>& modules = recorder_.recording().modules;
  const auto id = static_cast<std::int32_t>(modules.size());
  modules.push_back({path, type});
  paths_.emplace(path, id);
  return id;
}

NodeId CallNodes::add(const std::string& op, std::int32_t module) {
  const NodeId id = add_unnamed();
  name(id, op, module);
  return id;
}

NodeId CallNodes::add_unnamed() {
  std::vector<NodeRecord>& nodes = recorder_.recording().nodes;
  nodes.emplace_back();
  return static_cast<NodeId>(nodes.size()) - 1;
}

void CallNodes::name(NodeId id, const std::string& op, std::int32_t module) {
  Recording& recording = recorder_.recording();
  const std::string base = op.substr(op.rfind(':') + 1);
  const int uses = names_[base]++;
  const ModuleRecord& owner = recording.modules[static_cast<std::size_t>(module)];
  NodeRecord& node = recording.nodes[static_cast<std::size_t>(id)];
  node.name = uses == 0 ? base : base + "_" + std::to_string(uses);
  node.op = op;
  node.module = owner.path;
  node.module_type = owner.type;
  for (std::size_t dot = 0; dot != std::string::npos && !node.module.empty();) {
    dot = node.module.find('.', dot + 1);
    node.scopes.push_back(paths_.at(node.module.substr(0, dot)));
  }
}

}  // namespace symprof::shape
