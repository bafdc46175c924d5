#include "shape/step/key_value_cache.h"

#include "meta/fake/fake_tensor.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

// By value, from the rows.
std::vector<std::optional<TensorSpec>> specs_of(const Graph& graph, const Recording& recording) {
  std::vector<std::optional<TensorSpec>> specs;
  for (const Value& value : graph.values) specs.push_back(value.spec);
  for (const NodeRecord& record : recording.nodes) {
    if (record.graph_node == none) continue;
    std::vector<ValueId> made;
    for (const ValueId id : graph.nodes.at(static_cast<std::size_t>(record.graph_node)).outputs)
      if (id != no_value) made.push_back(id);
    if (made.size() != record.outputs.size()) continue;  // Some are no tensors.
    for (std::size_t i = 0; i < made.size(); ++i)
      if (record.outputs[i].spec != none)
        specs[static_cast<std::size_t>(made[i])] =
            recording.specs[static_cast<std::size_t>(record.outputs[i].spec)];
  }
  return specs;
}

}  // namespace

trace::KeyValueCache add_cache(Graph& graph, std::int64_t tokens, const Recording& recording) {
  const std::vector<std::optional<TensorSpec>> specs = specs_of(graph, recording);
  return trace::add_key_value_cache(graph, tokens, [&](ValueId id) -> const TensorSpec* {
    const std::optional<TensorSpec>& spec = specs.at(static_cast<std::size_t>(id));
    return spec ? &*spec : nullptr;
  });
}

CachedNodes::CachedNodes(const Graph& graph, const trace::KeyValueCache& cache,
                         Interpreter& interpreter, Recorder& recorder, NodeObserver& inner)
    : graph_(graph), interpreter_(interpreter), recorder_(recorder), inner_(inner) {
  if (cache.tensors.empty()) return;
  const trace::Uses uses(graph);
  for (const trace::CachedTensor& tensor : cache.tensors) {
    past_of_.emplace(tensor.present, tensor.past);
    steps_until_.emplace(tensor.step_until, tensor.step);
    last_read_[tensor.step] = uses.last_reader(tensor.step).value_or(0);
  }
}

void CachedNodes::end_node(std::size_t index) {
  inner_.end_node(index);
  for (const ValueId id : graph_.nodes[index].outputs) {
    const auto past = past_of_.find(id);
    if (past == past_of_.end()) continue;
    kept_.push_back(interpreter_.get(id).toTensor());
    recorder_.set_storage_kind(meta::storage_id(kept_.back()), StorageKind::kv_cache);
    interpreter_.set(past->second, {});
    for (auto [step, end] = steps_until_.equal_range(id); step != end; ++step)
      if (last_read_.at(step->second) <= index) interpreter_.set(step->second, {});
  }
}

}  // namespace symprof::shape
