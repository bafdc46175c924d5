#include "workbench/optimize/subgraphs.h"

#include <map>

#include "trace/onnx/order.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

/// The outer values that a graph's nodes may read.
struct Surroundings {
  std::map<std::string, const onnx::ValueInfoProto*> types;
  std::map<std::string, const onnx::TensorProto*> constants;

  void add(const onnx::GraphProto& graph) {
    for (const auto* list : {&graph.value_info(), &graph.output(), &graph.input()})
      for (const onnx::ValueInfoProto& value : *list) types[value.name()] = &value;
    for (const onnx::TensorProto& tensor : graph.initializer()) constants[tensor.name()] = &tensor;
    for (const onnx::ValueInfoProto& input : graph.input()) constants.erase(input.name());
  }
};

/// True for constants that rules inspect: shapes, axes, scalars. Larger ones are not copied.
bool is_small(const onnx::TensorProto& tensor) { return element_count(tensor) <= 64; }

onnx::ValueInfoProto type_of(const std::string& name, const Surroundings& around) {
  onnx::ValueInfoProto value;
  if (const auto known = around.types.find(name); known != around.types.end())
    value = *known->second;
  value.set_name(name);
  if (const auto tensor = around.constants.find(name); tensor != around.constants.end()) {
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor->second->data_type());
    type.mutable_shape()->clear_dim();
    for (const std::int64_t size : tensor->second->dims())
      type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  return value;
}

class Visitor {
 public:
  Visitor(onnx::ModelProto& model, const std::function<void(onnx::ModelProto&)>& change)
      : model_(model), change_(change) {}

  void visit(onnx::GraphProto& graph, Surroundings around) {
    around.add(graph);
    for (onnx::NodeProto& node : *graph.mutable_node())
      for (onnx::AttributeProto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) {
          change(*attribute.mutable_g(), around);
          visit(*attribute.mutable_g(), around);
        }
  }

 private:
  void change(onnx::GraphProto& graph, const Surroundings& around) {
    const auto captured = trace::captured_names(graph);
    const NameSet outside(captured.begin(), captured.end());
    onnx::ModelProto part;
    part.set_ir_version(model_.ir_version());
    part.mutable_opset_import()->Swap(model_.mutable_opset_import());
    part.mutable_graph()->Swap(&graph);
    onnx::GraphProto& inside = *part.mutable_graph();
    for (const std::string& name : outside) {
      const auto constant = around.constants.find(name);
      if (constant != around.constants.end() && is_small(*constant->second))
        *inside.add_initializer() = *constant->second;
      else
        *inside.add_input() = type_of(name, around);
    }
    change_(part);
    erase(*inside.mutable_initializer(), outside);
    erase(*inside.mutable_input(), outside);
    part.mutable_opset_import()->Swap(model_.mutable_opset_import());
    part.mutable_graph()->Swap(&graph);
  }

  template <class List>
  static void erase(List& list, const NameSet& names) {
    for (int i = list.size(); i-- > 0;)
      if (names.contains(list.Get(i).name())) list.DeleteSubrange(i, 1);
  }

  onnx::ModelProto& model_;
  const std::function<void(onnx::ModelProto&)>& change_;
};

}  // namespace

void add_names(const onnx::GraphProto& graph, NameSet& names) {
  for (const onnx::ValueInfoProto& input : graph.input()) names.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for_all_nodes(graph.node(), [&](const onnx::NodeProto& node) {
    names.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      for (const onnx::ValueInfoProto& input : attribute.g().input()) names.insert(input.name());
      for (const onnx::TensorProto& tensor : attribute.g().initializer())
        names.insert(tensor.name());
    }
  });
}

NameSet names_in_subgraphs(const onnx::GraphProto& graph) {
  NameSet names;
  for (const onnx::NodeProto& node : graph.node())
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) add_names(attribute.g(), names);
  return names;
}

void for_each_subgraph(onnx::ModelProto& model,
                       const std::function<void(onnx::ModelProto&)>& change) {
  Visitor(model, change).visit(*model.mutable_graph(), {});
}

}  // namespace symprof::workbench
