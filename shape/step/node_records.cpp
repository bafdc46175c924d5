#include "shape/step/node_records.h"

#include <algorithm>
#include <utility>

#include "meta/fake/fake_tensor.h"
#include "shape/step/checkpoint.h"
#include "shape/step/graph_checkpoint.h"
#include "shape/step/node_tensors.h"
#include "trace/graph/region_markers.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

constexpr std::size_t progress_step = 256;

// True if an unbacked size of the result can only be its first.
bool may_begin_with_unbacked_size(const Node& node) {
  if (node.op == "aten::nonzero" || node.op == "aten::masked_select") return true;
  if (node.op != "aten::index") return false;
  const auto* indices = trace::argument_at<std::vector<ListElement>>(node, 1);
  return indices && !indices->empty() && !std::holds_alternative<NoArgument>(indices->front());
}

// The number of elements selected by the mask in `self[mask] = values`, which backward needs: the
// number of rows of values; unknown if one row is broadcast.
std::optional<std::int64_t> rows_put(const Node& node, const Interpreter& interpreter) {
  if (!node.op.starts_with("aten::index_put")) return std::nullopt;
  const auto* self = trace::argument_at<ValueRef>(node, 0);
  const auto* indices = trace::argument_at<std::vector<ListElement>>(node, 1);
  const auto* values = trace::argument_at<ValueRef>(node, 2);
  if (!self || !values || !indices || indices->size() != 1) return std::nullopt;
  const auto* mask = std::get_if<ValueRef>(&indices->front());
  if (!mask) return std::nullopt;
  const at::Tensor put = interpreter.get(values->id).toTensor();
  const std::int64_t kept_dimensions =
      interpreter.get(self->id).toTensor().dim() - interpreter.get(mask->id).toTensor().dim();
  if (put.dim() != kept_dimensions + 1 || put.size(0) == 1) return std::nullopt;
  return put.size(0);
}

// The enclosing scopes, outermost first, without the root.
std::vector<std::int32_t> scope_chain(const Graph& graph, ScopeId scope) {
  std::vector<std::int32_t> chain;
  for (; scope != 0; scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
    chain.push_back(scope);
  std::ranges::reverse(chain);
  return chain;
}

// While it lives, calls belong to the recomputation of `node`.
class Recomputation {
 public:
  Recomputation(Recorder& recorder, NodeId node) : recorder_(recorder) {
    recorder_.recompute(node);
  }
  ~Recomputation() { recorder_.recompute(none); }
  Recomputation(const Recomputation&) = delete;
  Recomputation& operator=(const Recomputation&) = delete;

 private:
  Recorder& recorder_;
};

}  // namespace

NodeRecords::NodeRecords(const Graph& graph, const Interpreter& interpreter, Recorder& recorder,
                         const StepOptions& options,
                         const std::vector<trace::PossibleLifetime>& possible_lifetimes)
    : graph_(graph),
      interpreter_(interpreter),
      recorder_(recorder),
      progress_(options.progress),
      possible_lifetimes_(possible_lifetimes) {
  add_nodes();
}

void NodeRecords::add_nodes() {
  Recording& recording = recorder_.recording();
  recording.path = graph_.path;
  recording.format = graph_.format;
  recording.traits = graph_.traits;
  recording.producer = graph_.producer;
  recording.warnings = graph_.warnings;
  recording.has_export_masks = graph_.has_export_masks;
  recording.names_are_guessed =
      !possible_lifetimes_.empty() && std::ranges::any_of(graph_.values, [](const Value& value) {
        return value.may_stay_in != no_scope;
      });
  recording.unregistered_bytes = graph_.unregistered_bytes;
  for (const Scope& scope : graph_.scopes) recording.modules.push_back({scope.path, scope.type});
  for (ValueId id : graph_.inputs)
    recording.nodes.push_back({.name = graph_.values[static_cast<std::size_t>(id)].name,
                               .op = "input",
                               .kind = NodeKind::input});
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (trace::is_region_marker(node)) {
      node_of_.push_back(none);
      continue;
    }
    const Scope& scope = graph_.scopes[static_cast<std::size_t>(node.scope)];
    node_of_.push_back(static_cast<NodeId>(recording.nodes.size()));
    recording.nodes.push_back({.name = node.name,
                               .op = node.op,
                               .module = scope.path,
                               .module_type = scope.type,
                               .scopes = scope_chain(graph_, node.scope),
                               .graph_node = static_cast<std::int32_t>(i)});
  }
  output_node_ = add_closing_nodes(recording);
}

// The first unbacked size of a result is used for the whole node: operators with two of them are
// rare, and theirs are equal. The file has a number if an assertion determines it.
void NodeRecords::tell_unbacked_size(std::size_t index) {
  if (const auto rows = rows_put(graph_.nodes[index], interpreter_))
    return recorder_.set_unbacked_size(node_of_[index], {.given = rows});
  for (const ValueId id : graph_.nodes[index].outputs) {
    if (id == no_value) continue;
    const Value& result = graph_.values[static_cast<std::size_t>(id)];
    if (result.spec && !result.spec->sizes.empty() &&
        may_begin_with_unbacked_size(graph_.nodes[index]))
      recorder_.set_unbacked_size(node_of_[index], {.given = result.spec->sizes[0]});
    for (const Dimension& size : result.dimensions) {
      if (!size.symbol.starts_with('u')) continue;
      Recorder::UnbackedSize known;
      if (size.size >= 0) known.given = size.size;
      for (const SymbolRange& range : graph_.symbol_ranges)
        if (range.symbol == size.symbol) known.most = range.most;
      return recorder_.set_unbacked_size(node_of_[index], known);
    }
  }
}

void NodeRecords::begin_node(std::size_t index) {
  const NodeId node = node_of_[index];
  tell_unbacked_size(index);
  recorder_.enter(Phase::forward, node);
  recorder_.mark_sequence(node);
  // Before the node runs, as an in-place operator changes its inputs.
  for_each_value(graph_.nodes[index], [&](ValueId id) {
    if (id != no_value && interpreter_.get(id).isTensor())
      add_node_input(node, interpreter_.get(id).toTensor(), recorder_);
  });
}

void NodeRecords::end_node(std::size_t index) {
  // An assertion has no outputs and passes no gradient.
  if (graph_.nodes[index].outputs.empty())
    recorder_.recording().nodes[static_cast<std::size_t>(node_of_[index])].input_gradient_bytes = 0;
  for (ValueId id : graph_.nodes[index].outputs)
    if (id != no_value && interpreter_.get(id).isTensor()) {
      add_node_output(node_of_[index], interpreter_.get(id).toTensor(), recorder_);
      note_uncertainty(id);
    }
  if (progress_ && index % progress_step == 0)
    progress_("forward", static_cast<std::int64_t>(index),
              static_cast<std::int64_t>(graph_.nodes.size()));
}

// Views share a storage: the longest of their lifetimes counts.
void NodeRecords::note_uncertainty(ValueId id) {
  if (possible_lifetimes_.empty()) return;
  const trace::PossibleLifetime& end = possible_lifetimes_[static_cast<std::size_t>(id)];
  const StorageId storage = meta::storage_id(interpreter_.get(id).toTensor());
  if (storage < 0) return;
  StorageRecord& record = recorder_.recording().storages[static_cast<std::size_t>(storage)];
  record.end_is_open |= end.is_open;
  if (end.uncertainty == LifetimeUncertainty::none) return;
  const NodeId last = last_node_until(end.last);
  if (last <= record.may_live_until) return;
  record.may_live_until = last;
  record.uncertainty = end.uncertainty;
}

NodeId NodeRecords::last_node_until(std::size_t index) const {
  while (node_of_[index] == none && index > 0) --index;
  return node_of_[index];
}

std::vector<at::Tensor> NodeRecords::recompute_all(TensorFunction function,
                                                   const std::vector<at::Tensor>& inputs) {
  const auto run = [this, node = recorder_.current_node(), again = false,
                    function = std::move(function)](const std::vector<at::Tensor>& given) mutable {
    if (!std::exchange(again, true)) return function(given);
    const Recomputation recomputation(recorder_, node);
    return function(given);
  };
  return checkpoint(TensorsFunction(run), inputs);
}

std::vector<at::Tensor> NodeRecords::recompute(TensorFunction function,
                                               const std::vector<at::Tensor>& inputs,
                                               const Rerun& rerun) {
  if (rerun.how == RunAgain::of_operator) return recompute_all(std::move(function), inputs);
  const auto run_again = [this,
                          node = recorder_.current_node()](const std::function<void()>& body) {
    const Recomputation recomputation(recorder_, node);
    body();
  };
  const auto is_of_module = [this](const at::Tensor& tensor) {
    const StorageId storage = meta::storage_id(tensor);
    if (storage < 0) return false;
    const StorageKind kind = recorder_.recording().storages[static_cast<std::size_t>(storage)].kind;
    return kind == StorageKind::parameter || kind == StorageKind::buffer;
  };
  return graph_checkpoint({std::move(function), run_again, is_of_module, rerun.kept}, inputs);
}

void NodeRecords::finish_input(std::size_t input) {
  const c10::IValue& value = interpreter_.get(graph_.inputs[input]);
  if (value.isTensor()) add_node_output(input_node(input), value.toTensor(), recorder_);
}

void NodeRecords::finish_outputs(const std::vector<at::Tensor>& outputs) {
  finish_output_node(output_node_, outputs, recorder_);
}

}  // namespace symprof::shape
