#include "engine/model.h"

#include <algorithm>

#include "engine/names.h"
#include "trace/onnx/reader.h"

namespace symprof::engine {
namespace {

std::string op_of(const Node& node) {
  constexpr std::string_view own = "onnx::";
  return node.op.starts_with(own) ? node.op.substr(own.size()) : node.op;
}

bool is_given(ValueKind kind) {
  return kind == ValueKind::parameter || kind == ValueKind::buffer || kind == ValueKind::constant;
}

ModelNode node_of(const Graph& graph, const Node& node) {
  ModelNode result{.name = node.name, .op = op_of(node)};
  result.module = graph.scopes[static_cast<std::size_t>(node.scope)].path;
  for_each_value(node, [&](ValueId id) {
    if (id != no_value) result.inputs.push_back(id);
  });
  for (const ValueId id : node.outputs)
    if (id != no_value) result.outputs.push_back(id);
  return result;
}

/// Values computed only from constants are constant too.
void spread_constants(Model& model) {
  for (const ModelNode& node : model.nodes) {
    const bool follows = is_constant(model, node);
    for (const ValueId id : node.outputs) model.constants[static_cast<std::size_t>(id)] = follows;
  }
}

void index_names(Model& model) {
  // An original name is never shadowed by another's Myelin spelling.
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    model.nodes_by_name.emplace(model.nodes[i].name, static_cast<int>(i));
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    model.nodes_by_name.emplace(myelin_spelling(model.nodes[i].name), static_cast<int>(i));
}

}  // namespace

bool is_one_of(const ModelNode& node, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, node.op) != ops.end();
}

bool is_constant(const Model& model, const ModelNode& node) {
  return !node.inputs.empty() && std::ranges::all_of(node.inputs, [&](ValueId id) {
    return model.constants[static_cast<std::size_t>(id)];
  });
}

bool is_view(const ModelNode& node) {
  return is_one_of(node, {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity",
                          "Cast", "Expand", "Dropout"});
}

bool is_quantizer(const ModelNode& node) { return node.op == "QuantizeLinear"; }

bool is_dequantizer(const ModelNode& node) { return node.op == "DequantizeLinear"; }

Model model_of(const Graph& graph) {
  Model model{.path = graph.path};
  const std::size_t count = graph.values.size();
  model.producers.assign(count, -1);
  model.consumers.resize(count);
  model.constants.resize(count);
  model.outputs.resize(count);
  model.nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    const int index = static_cast<int>(model.nodes.size());
    ModelNode& added = model.nodes.emplace_back(node_of(graph, node));
    for (const ValueId id : added.outputs) model.producers[static_cast<std::size_t>(id)] = index;
    for (const ValueId id : added.inputs)
      model.consumers[static_cast<std::size_t>(id)].push_back(index);
  }
  for (std::size_t i = 0; i < count; ++i) {
    model.constants[i] = is_given(graph.values[i].kind);
    model.values.emplace(graph.values[i].name, static_cast<ValueId>(i));
  }
  for (const ValueId id : graph.outputs)
    if (id != no_value) model.outputs[static_cast<std::size_t>(id)] = true;
  spread_constants(model);
  index_names(model);
  return model;
}

Model read_model(const std::string& path) { return model_of(trace::load_onnx(path)); }

}  // namespace symprof::engine
