#include "trace/graph/edit.h"

#include <algorithm>

#include "base/float_bytes.h"
#include "trace/graph/uses.h"

namespace symprof::trace {

void set_argument(Node& node, std::string_view name, ArgumentValue value) {
  set_argument(node, name, any_position, std::move(value));
}

void set_argument(Node& node, std::string_view name, std::size_t position, ArgumentValue value) {
  if (Argument* argument = find_argument(node, name, position))
    argument->value = std::move(value);
  else
    node.arguments.push_back({std::string(name), std::move(value)});
}

void set_input(Node& node, std::size_t position, ArgumentValue value) {
  const auto has_name = [](const Argument& argument) { return !argument.name.empty(); };
  const auto end = std::ranges::find_if(node.arguments, has_name);
  const auto inputs = static_cast<std::size_t>(end - node.arguments.begin());
  if (inputs <= position) node.arguments.insert(end, position + 1 - inputs, {"", NoArgument{}});
  node.arguments[position].value = std::move(value);
}

std::shared_ptr<const ConstantTensor> with_dtype(const ConstantTensor& constant, DType dtype) {
  auto result = std::make_shared<ConstantTensor>();
  result->spec = constant.spec;
  result->spec.dtype = dtype;
  result->data = convert_floats(constant.data, constant.spec.dtype, dtype);
  return result;
}

std::vector<bool> remove_unread(Graph& graph, const std::vector<bool>& candidates) {
  std::vector<bool> gone(candidates.size(), false);
  if (std::ranges::find(candidates, true) == candidates.end()) return gone;
  const Uses uses(graph);
  const auto is_unread = [&](ValueId id) {
    return !uses.is_output(id) && !uses.is_written_back(id) &&
           std::ranges::all_of(uses.readers(id), [&](std::size_t reader) { return gone[reader]; });
  };
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    gone[i] = candidates[i] && std::ranges::all_of(graph.nodes[i].outputs, is_unread);
  erase_gone(graph.nodes, gone);
  return gone;
}

NodeEdits::NodeEdits(Graph& graph) : graph_(graph), if_unread_(graph.nodes.size(), false) {
  for (const Node& node : graph.nodes) names_.insert(node.name);
}

ValueId NodeEdits::insert(std::size_t place, Node node) {
  while (!names_.insert(node.name).second) node.name += "_";
  if (node.outputs.empty()) node.outputs = {graph_.add_value({.name = node.name})};
  insertions_.push_back({place, std::move(node)});
  return insertions_.back().node.outputs.front();
}

void NodeEdits::apply() {
  std::ranges::stable_sort(insertions_, {}, &Insertion::place);
  std::vector<Node> nodes;
  std::vector<bool> if_unread;
  const auto append = [&](Node& node, bool is_candidate) {
    nodes.push_back(std::move(node));
    if_unread.push_back(is_candidate);
  };
  auto next = insertions_.begin();
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (; next != insertions_.end() && next->place <= 2 * i + 1; ++next) append(next->node, false);
    append(graph_.nodes[i], if_unread_[i]);
  }
  for (; next != insertions_.end(); ++next) append(next->node, false);
  graph_.nodes = std::move(nodes);
  remove_unread(graph_, if_unread);
}

}  // namespace symprof::trace
