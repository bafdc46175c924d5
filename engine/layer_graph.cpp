#include "engine/layer_graph.h"

#include "engine/layer_kinds.h"

namespace symprof::engine {
namespace {

/// More copies are implausible; also ends cycles.
constexpr int most_copies = 8;

bool is_copy(const Layer& layer) {
  return is_reformat(layer) && layer.inputs.size() == 1 && layer.outputs.size() == 1;
}

}  // namespace

LayerGraph::LayerGraph(const Engine& engine) : engine_(engine) {
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    for (const Tensor& tensor : engine.layers[i].outputs)
      producers_.emplace(tensor.name, static_cast<int>(i));
    for (const Tensor& tensor : engine.layers[i].inputs)
      readers_[tensor.name].push_back(static_cast<int>(i));
  }
}

int LayerGraph::producer(std::string_view tensor) const {
  for (int i = 0; i < most_copies; ++i) {
    const auto found = producers_.find(tensor);
    if (found == producers_.end()) return -1;
    const Layer& layer = engine_.layers[static_cast<std::size_t>(found->second)];
    if (!is_copy(layer)) return found->second;
    tensor = layer.inputs.front().name;
  }
  return -1;
}

std::vector<int> LayerGraph::readers(std::string_view tensor) const {
  std::vector<int> found;
  add_readers(tensor, 0, found);
  return found;
}

void LayerGraph::add_readers(std::string_view tensor, int depth, std::vector<int>& found) const {
  const auto known = readers_.find(tensor);
  if (known == readers_.end() || depth > most_copies) return;
  for (const int reader : known->second) {
    const Layer& layer = engine_.layers[static_cast<std::size_t>(reader)];
    if (is_copy(layer))
      add_readers(layer.outputs.front().name, depth + 1, found);
    else
      found.push_back(reader);
  }
}

}  // namespace symprof::engine
