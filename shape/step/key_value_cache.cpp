#include "shape/step/key_value_cache.h"

#include "meta/fake/fake_tensor.h"
#include "trace/graph/uses.h"

namespace symprof::shape {

CachedNodes::CachedNodes(const Graph& graph, Interpreter& interpreter, Recorder& recorder,
                         NodeObserver& inner)
    : graph_(graph), interpreter_(interpreter), recorder_(recorder), inner_(inner) {
  if (graph.kv_cache.tensors.empty()) return;
  const trace::Uses uses(graph);
  for (const CachedTensor& tensor : graph.kv_cache.tensors) {
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
