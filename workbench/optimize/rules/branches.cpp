// before                                 after
//   y = If(true) { a = Add(x, z) } …         y = Add(x, z)
// A branch with subgraphs is inlined once those are gone.
#include <map>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

const onnx::GraphProto* branch_of(const onnx::NodeProto& node, bool condition) {
  const auto* branch = find_attribute(node, condition ? "then_branch" : "else_branch");
  return branch && branch->has_g() ? &branch->g() : nullptr;
}

bool is_flat(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Constant" && !find_attribute(node, "value")) return false;
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) return false;
  }
  return graph.sparse_initializer_size() == 0;
}

}  // namespace

bool constant_branch(Editor& editor, int node) {
  if (!editor.is(node, "If")) return false;
  const onnx::NodeProto old = editor.node(node);
  const auto condition = editor.number(old.input(0));
  const onnx::GraphProto* branch = condition ? branch_of(old, *condition != 0) : nullptr;
  if (!branch || !is_flat(*branch) || branch->output_size() != old.output_size()) return false;
  std::map<std::string, std::string> names;
  for (int i = 0; i < old.output_size(); ++i) {
    // A result of the branch takes the name of the If's output; a value that it only passes through
    // has none.
    if (old.output(i).empty()) continue;
    if (!names.try_emplace(branch->output(i).name(), old.output(i)).second) return false;
  }
  std::map<std::string, bool> made;
  for (const onnx::NodeProto& inside : branch->node())
    for (const std::string& output : inside.output()) made[output] = inside.op_type() != "Constant";
  for (const auto& [name, result] : names)
    if (!made[name]) return false;
  editor.remove(node);
  for (const onnx::TensorProto& tensor : branch->initializer())
    names[tensor.name()] = editor.add_constant(tensor, tensor.name());
  for (const onnx::NodeProto& inside : branch->node()) {
    if (inside.op_type() == "Constant") {
      names[inside.output(0)] =
          editor.add_constant(find_attribute(inside, "value")->t(), inside.output(0));
      continue;
    }
    onnx::NodeProto copy = inside;
    for (std::string& input : *copy.mutable_input())
      if (const auto known = names.find(input); known != names.end()) input = known->second;
    for (std::string& output : *copy.mutable_output()) {
      if (output.empty()) continue;
      const auto known = names.find(output);
      output = known != names.end() ? known->second : names[output] = editor.fresh(output);
    }
    editor.add(std::move(copy), node);
  }
  editor.drop_unread(old);
  return true;
}

}  // namespace symprof::workbench::rules
