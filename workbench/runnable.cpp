#include "workbench/runnable.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "trace/exported/reader.h"
#include "trace/onnx/reader.h"
#include "workbench/bare_model.h"
#include "workbench/leaf_drawer.h"
#include "workbench/model.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

/// Adds the modules of a node in the metadata that the graph reader knows, where the exporter used
/// its older form ("namespace").
void add_module_names(onnx::NodeProto& node) {
  bool is_old = false;
  for (const onnx::StringStringEntryProto& entry : node.metadata_props()) {
    if (entry.key() == "pkg.torch.onnx.name_scopes") return;
    is_old |= entry.key() == "namespace";
  }
  if (!is_old) return;
  std::string names = "[", types = "[";
  for (const ModuleStep& step : modules_of(node)) {
    names += fmt::format("'{}', ", step.path);
    types += fmt::format("'{}', ", step.type);
  }
  const std::pair<const char*, std::string> entries[] = {
      {"pkg.torch.onnx.name_scopes", names + "'call']"},
      {"pkg.torch.onnx.class_hierarchy", types + "'call']"}};
  for (const auto& [key, text] : entries) {
    auto* entry = node.add_metadata_props();
    entry->set_key(key);
    entry->set_value(text);
  }
}

}  // namespace

Runnable runnable(const onnx::ModelProto& model, const std::string& path) {
  Runnable start;
  onnx::ModelProto bare = bare_model(model, path, start.leaves);
  // The nodes' metadata names their modules.
  for (int i = 0; i < bare.graph().node_size(); ++i) {
    onnx::NodeProto& node = *bare.mutable_graph()->mutable_node(i);
    *node.mutable_metadata_props() = model.graph().node(i).metadata_props();
    add_module_names(node);
  }
  start.graph = trace::read_onnx(bytes_of(bare, path), path, trace::Reading::as_written);
  return start;
}

Runnable runnable(const Graph& graph, const std::string& path, const ValueRunner& runner) {
  Runnable start{.graph = graph};
  const ValueRunner::Leaves weights = graph.traits.weights_are_pickled
                                          ? runner.script_weights(path)
                                          : trace::load_exported_weights(path);
  for (const Value& value : graph.values)
    if (const auto weight = weights.find(value.name);
        weight != weights.end() && value.kind != ValueKind::input &&
        value.kind != ValueKind::result && value.spec &&
        value.spec->dtype == weight->second->spec.dtype &&
        value.spec->sizes == weight->second->spec.sizes)
      start.leaves[value.name] = weight->second;
  for (const Value& value : graph.values)
    if (value.kind != ValueKind::result && value.constant && value.spec &&
        value.constant->data.size() == static_cast<std::size_t>(value.spec->bytes()))
      start.leaves[value.name] = value.constant;
  return start;
}

ValueRunner::Leaves random_inputs(const Runnable& start, const std::vector<std::int64_t>& bounds,
                                  const DrawOptions& options, const std::string& path) {
  ValueRunner::Leaves inputs;
  LeafDrawer drawer(path, options.sizes, options.seed);
  for (const ValueId id : start.graph.inputs) {
    const Value& input = start.graph.value(id);
    if (input.kind == ValueKind::input && !start.leaves.contains(input.name))
      inputs[input.name] = drawer.draw(input, bounds[static_cast<std::size_t>(id)]);
  }
  return inputs;
}

}  // namespace symprof::workbench
