// Writes an editor's graph back into its model.
#include <fmt/format.h>

#include <algorithm>

#include "trace/onnx/order.h"
#include "workbench/optimize/editor.h"

namespace symprof::workbench {

void Editor::import_domain(std::string_view domain) {
  for (const onnx::OperatorSetIdProto& opset : model_.opset_import())
    if (domain.empty() || opset.domain() == domain) return;
  auto* opset = model_.add_opset_import();
  opset->set_domain(std::string(domain));
  opset->set_version(1);
}

/// Several nodes may replace one of the file, and ONNX Runtime requires distinct names.
void Editor::name_apart(onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (node.name().empty()) continue;
    const std::string base = node.name();
    for (int i = 2; !names.insert(node.name()).second; ++i)
      node.set_name(fmt::format("{}__{}", base, i));
  }
}

void Editor::commit() {
  std::vector<int> order;
  for (int i = 0; i < end(); ++i)
    if (is_alive(i)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return position_[static_cast<std::size_t>(a)] < position_[static_cast<std::size_t>(b)];
  });
  google::protobuf::RepeatedPtrField<onnx::NodeProto> list;
  std::unordered_set<std::string> used(outputs_.begin(), outputs_.end());
  for (const int index : order) {
    for (std::string& name : trace::names_read(node(index))) used.insert(std::move(name));
    *list.Add() = node(index);
  }
  onnx::GraphProto& graph = *model_.mutable_graph();
  graph.clear_node();
  for (const onnx::NodeProto* node : trace::execution_order(
           list, [&](const std::string& name) { return !makers_.contains(name); }, "the model"))
    *graph.add_node() = *node;
  name_apart(graph);
  google::protobuf::RepeatedPtrField<onnx::TensorProto> tensors;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer())
    if (inputs_.contains(tensor.name())) tensors.Add()->Swap(&tensor);
  for (const std::string& name : constant_order_)
    if (used.contains(name)) *tensors.Add() = constants_[name].tensor;
  graph.mutable_initializer()->Swap(&tensors);
  for (int i = graph.value_info_size(); i-- > 0;)
    if (retyped_.contains(graph.value_info(i).name()))
      graph.mutable_value_info()->DeleteSubrange(i, 1);
}

}  // namespace symprof::workbench
