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

/// `to` becomes `from`, which is left empty if nothing needs it any more.
template <class Message>
void hand_over(Message& to, Message& from, bool is_last) {
  if (is_last)
    to.Swap(&from);
  else
    to = from;
}

void Editor::write_constants(const std::unordered_set<std::string>& used, bool is_last) {
  onnx::GraphProto& graph = *model_.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::TensorProto> tensors;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer())
    if (inputs_.contains(tensor.name())) tensors.Add()->Swap(&tensor);
  std::unordered_set<std::string> written;
  for (const std::string& name : constant_order_)
    if (used.contains(name) && written.insert(name).second)
      hand_over(*tensors.Add(), constants_[name].tensor, is_last);
  graph.mutable_initializer()->Swap(&tensors);
}

void Editor::write_back(bool is_last) {
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
    hand_over(*list.Add(), nodes_[static_cast<std::size_t>(index)], is_last);
  }
  onnx::GraphProto& graph = *model_.mutable_graph();
  graph.clear_node();
  for (const onnx::NodeProto* node : trace::execution_order(
           list, [&](const std::string& name) { return !makers_.contains(name); }, "the model"))
    graph.add_node()->Swap(const_cast<onnx::NodeProto*>(node));  // Of `list`, which is done with.
  name_apart(graph);
  write_constants(used, is_last);
  for (int i = graph.value_info_size(); i-- > 0;)
    if (retyped_.contains(graph.value_info(i).name()))
      graph.mutable_value_info()->DeleteSubrange(i, 1);
}

}  // namespace symprof::workbench
