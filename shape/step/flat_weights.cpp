#include "shape/step/flat_weights.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

constexpr std::array<std::string_view, 4> recurrent_layers{"aten::lstm", "aten::gru",
                                                           "aten::rnn_tanh", "aten::rnn_relu"};

/// The last tensor list among a layer's arguments (an LSTM's states are also a list).
std::vector<ValueId> weights_of(const Node& node) {
  std::vector<ValueId> weights;
  for (const Argument& argument : node.arguments) {
    if (!std::holds_alternative<std::vector<ListElement>>(argument.value)) continue;
    weights.clear();
    for_each_value(argument, [&](ValueId id) { weights.push_back(id); });
  }
  return weights;
}

}  // namespace

FlatWeights::FlatWeights(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (std::ranges::find(recurrent_layers, node.op) != recurrent_layers.end())
      add_layer(graph, weights_of(node));
}

// Layers with several weight dtypes, or with weights shared with another layer, are not flattened.
void FlatWeights::add_layer(const Graph& graph, const std::vector<ValueId>& weights) {
  const auto fits = [&](ValueId id) {
    if (id == no_value || parts_.contains(id)) return false;
    const Value& value = graph.value(id);
    return value.kind == ValueKind::parameter && value.spec &&
           value.spec->dtype == graph.value(weights.front()).spec->dtype;
  };
  if (!std::ranges::all_of(weights, fits)) return;
  Layer& layer = layers_.emplace_back();
  for (const ValueId id : weights) {
    const bool is_first_use = parts_.try_emplace(id, layers_.size() - 1, layer.elements).second;
    if (is_first_use) layer.elements += graph.value(id).spec->numel();
  }
}

at::Tensor FlatWeights::part(const Graph& graph, ValueId value) {
  const auto found = parts_.find(value);
  if (found == parts_.end()) return {};
  TensorSpec spec = *graph.value(value).spec;
  Layer& layer = layers_[found->second.layer];
  if (!layer.buffer.defined()) layer.buffer = meta::make_fake({spec.dtype, {layer.elements}, {1}});
  spec.strides = contiguous_strides(spec.sizes);
  spec.storage_offset = found->second.offset;
  return meta::make_fake_in(layer.buffer, spec);
}

}  // namespace symprof::shape
