#include "shape/node_records.h"

#include <algorithm>

#include "meta/fake/fake_tensor.h"
#include "trace/passes/inline_regions.h"

namespace symprof::shape {
namespace {

constexpr std::size_t progress_step = 256;

bool is_region_marker(const Node& node) {
  return node.op == trace::region_grad_mode || node.op == trace::region_autocast ||
         node.op == trace::region_end;
}

// Scopes from the outermost in, without the root.
std::vector<std::int32_t> scope_chain(const Graph& graph, ScopeId scope) {
  std::vector<std::int32_t> chain;
  for (; scope != 0; scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
    chain.push_back(scope);
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace

NodeRecords::NodeRecords(const Graph& graph, const trace::Interpreter& interpreter,
                         Recorder& recorder, const Progress& progress)
    : graph_(graph), interpreter_(interpreter), recorder_(recorder), progress_(progress) {
  add_rows();
}

void NodeRecords::add_rows() {
  Recording& recording = recorder_.recording();
  recording.path = graph_.path;
  recording.format = graph_.format;
  recording.producer = graph_.producer;
  recording.warnings = graph_.warnings;
  for (const Scope& scope : graph_.scopes) recording.modules.push_back({scope.path, scope.type});
  for (ValueId id : graph_.inputs)
    recording.nodes.push_back({.name = graph_.values[static_cast<std::size_t>(id)].name,
                               .op = "input",
                               .kind = NodeKind::input});
  for (const Node& node : graph_.nodes) {
    if (is_region_marker(node)) {
      row_of_.push_back(none);
      continue;
    }
    const Scope& scope = graph_.scopes[static_cast<std::size_t>(node.scope)];
    row_of_.push_back(static_cast<NodeId>(recording.nodes.size()));
    recording.nodes.push_back({.name = node.name,
                               .op = node.op,
                               .module = scope.path,
                               .module_type = scope.type,
                               .scopes = scope_chain(graph_, node.scope)});
  }
  output_node_ = static_cast<NodeId>(recording.nodes.size());
  recording.nodes.push_back({.name = "output", .op = "output", .kind = NodeKind::output});
  recording.nodes.push_back({.name = "loss", .op = "loss", .kind = NodeKind::loss});
  recording.nodes.push_back({.name = "optimizer", .op = "optimizer", .kind = NodeKind::optimizer});
}

void NodeRecords::begin_node(std::size_t index) {
  const NodeId node = row_of_[index];
  recorder_.enter(Phase::forward, node);
  recorder_.mark_sequence(node);
  // Before the node runs: an in-place operator changes what it is given.
  NodeRecord& row = record(node);
  for (const Argument& argument : graph_.nodes[index].arguments)
    for_each_value(argument, [&](ValueId id) { add_input(row, node, id); });
}

void NodeRecords::add_input(NodeRecord& row, NodeId node, ValueId value) {
  if (value == no_value || !interpreter_.get(value).isTensor()) return;
  const at::Tensor& tensor = interpreter_.get(value).toTensor();
  const meta::SeenTensor seen = meta::seen(tensor, recorder_);
  const auto same = [&](const TensorRecord& other) {
    return other.spec == seen.spec && other.storage == seen.storage;
  };
  const bool is_first_use = std::ranges::none_of(row.inputs, same);
  row.inputs.push_back({seen.spec, seen.storage});
  if (seen.storage == none || !is_first_use) return;
  if (recorder_.recording().storages[static_cast<std::size_t>(seen.storage)].kind ==
      StorageKind::parameter) {
    if (std::ranges::find(row.parameters, seen.storage) == row.parameters.end())
      row.parameters.push_back(seen.storage);
    recorder_.claim_parameter(seen.storage, node);
  } else if (tensor.requires_grad()) {
    row.input_gradient_bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
}

void NodeRecords::end_node(std::size_t index) {
  NodeRecord& row = record(row_of_[index]);
  for (ValueId id : graph_.nodes[index].outputs) {
    if (id == no_value || !interpreter_.get(id).isTensor()) continue;
    const meta::SeenTensor seen = meta::seen(interpreter_.get(id).toTensor(), recorder_);
    row.outputs.push_back({seen.spec, seen.storage});
  }
  if (progress_ && index % progress_step == 0)
    progress_("forward", static_cast<std::int64_t>(index),
              static_cast<std::int64_t>(graph_.nodes.size()));
}

void NodeRecords::finish_input(std::size_t input) {
  const c10::IValue& value = interpreter_.get(graph_.inputs[input]);
  if (!value.isTensor()) return;
  const meta::SeenTensor seen = meta::seen(value.toTensor(), recorder_);
  record(input_node(input)).outputs.push_back({seen.spec, seen.storage});
}

void NodeRecords::finish_outputs(const std::vector<at::Tensor>& outputs) {
  recorder_.mark_sequence(output_node_);
  recorder_.enter(Phase::forward, output_node_);
  NodeRecord& row = record(output_node_);
  for (const at::Tensor& tensor : outputs) {
    const meta::SeenTensor seen = meta::seen(tensor, recorder_);
    row.inputs.push_back({seen.spec, seen.storage});
    if (tensor.requires_grad())
      row.input_gradient_bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
}

}  // namespace symprof::shape
