#include "trace/passes/inline_regions.h"

#include <fmt/format.h>

#include <unordered_map>

#include "meta/error.h"

namespace symprof::trace {
namespace {

constexpr std::string_view set_grad_enabled = "higher_order::wrap_with_set_grad_enabled";
constexpr std::string_view autocast = "higher_order::wrap_with_autocast";

// What stands for a value of the subgraph, or for a result of the region: another value, or a
// number.
using Substitution = std::unordered_map<ValueId, ArgumentValue>;

void substitute(Argument& argument, const Substitution& substitution) {
  if (const auto* ref = std::get_if<ValueRef>(&argument.value)) {
    const auto found = substitution.find(ref->id);
    if (found != substitution.end()) argument.value = ArgumentValue(found->second);
    return;
  }
  auto* list = std::get_if<std::vector<ListElement>>(&argument.value);
  if (list == nullptr) return;
  for (ListElement& element : *list) {
    const auto* ref = std::get_if<ValueRef>(&element);
    if (ref == nullptr) continue;
    const auto found = substitution.find(ref->id);
    if (found == substitution.end()) continue;
    if (const auto* value = std::get_if<ValueRef>(&found->second)) element = *value;
    if (const auto* number = std::get_if<std::int64_t>(&found->second)) element = *number;
  }
}

// The subgraph argument and where it stands among the node's arguments.
std::size_t subgraph_position(const Graph& graph, const Node& node) {
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    if (std::holds_alternative<std::shared_ptr<const Graph>>(node.arguments[i].value)) return i;
  throw Error(fmt::format("{}: node {} ({})", graph.path, node.name, node.op), "holds no subgraph",
              "The file may be damaged; export it again.");
}

template <class T>
std::optional<T> argument_at(const Node& node, std::size_t position) {
  if (position >= node.arguments.size()) return std::nullopt;
  const auto* value = std::get_if<T>(&node.arguments[position].value);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

// wrap_with_set_grad_enabled(enabled, subgraph, *operands);
// wrap_with_autocast(device_type, dtype, enabled, cache_enabled, subgraph, *operands):
// torch/_higher_order_ops/wrap.py and torch/_export/passes/replace_*_with_hop_pass.py.
Node marker(const Node& node) {
  Node result{.name = node.name + "_begin", .scope = node.scope};
  if (node.op == set_grad_enabled) {
    result.op = region_grad_mode;
    result.arguments.push_back({"enabled", argument_at<bool>(node, 0).value_or(true)});
    return result;
  }
  result.op = region_autocast;
  result.arguments.push_back({"enabled", argument_at<bool>(node, 2).value_or(true)});
  if (const auto dtype = argument_at<DType>(node, 1)) result.arguments.push_back({"dtype", *dtype});
  return result;
}

class Inliner {
 public:
  explicit Inliner(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    Substitution results;
    for (Node& node : nodes) append(std::move(node), results);
    for (ValueId& output : graph_.outputs) replace(output, results);
    for (Mutation& mutation : graph_.mutations) replace(mutation.source, results);
  }

 private:
  void append(Node node, Substitution& substitution) {
    for (Argument& argument : node.arguments) substitute(argument, substitution);
    if (node.op == set_grad_enabled || node.op == autocast)
      expand(node, substitution);
    else
      graph_.nodes.push_back(std::move(node));
  }

  void expand(const Node& node, Substitution& outer) {
    const std::size_t position = subgraph_position(graph_, node);
    const Graph& body = *std::get<std::shared_ptr<const Graph>>(node.arguments[position].value);
    if (node.arguments.size() - position - 1 != body.inputs.size())
      throw Error(fmt::format("{}: node {} ({})", graph_.path, node.name, node.op),
                  fmt::format("{} operands for a subgraph of {} inputs",
                              node.arguments.size() - position - 1, body.inputs.size()));
    Substitution inner;
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
      inner[body.inputs[i]] = node.arguments[position + 1 + i].value;
    graph_.nodes.push_back(marker(node));
    for (Node copy : body.nodes) {
      copy.scope = copy.scope == 0 ? node.scope : scope_of(body, copy.scope);
      std::vector<ValueId> made;
      for (ValueId output : copy.outputs)
        made.push_back(output == no_value
                           ? no_value
                           : graph_.add_value(body.values[static_cast<std::size_t>(output)]));
      const std::vector<ValueId> inside = std::move(copy.outputs);
      copy.outputs = made;
      append(std::move(copy), inner);
      for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] == no_value) continue;
        // A nested region has already said what its results are.
        const auto nested = inner.find(made[i]);
        inner[inside[i]] =
            nested == inner.end() ? ArgumentValue(ValueRef{made[i]}) : nested->second;
      }
    }
    graph_.nodes.push_back(
        {.name = node.name + "_end", .op = std::string(region_end), .scope = node.scope});
    for (std::size_t i = 0; i < node.outputs.size() && i < body.outputs.size(); ++i)
      if (node.outputs[i] != no_value) outer[node.outputs[i]] = inner.at(body.outputs[i]);
  }

  ScopeId scope_of(const Graph& body, ScopeId scope) {
    const Scope& wanted = body.scopes[static_cast<std::size_t>(scope)];
    for (std::size_t i = 0; i < graph_.scopes.size(); ++i)
      if (graph_.scopes[i].path == wanted.path && graph_.scopes[i].type == wanted.type)
        return static_cast<ScopeId>(i);
    Scope copy = wanted;
    copy.parent = wanted.parent == 0 ? 0 : scope_of(body, wanted.parent);
    graph_.scopes.push_back(std::move(copy));
    return static_cast<ScopeId>(graph_.scopes.size()) - 1;
  }

  static void replace(ValueId& value, const Substitution& substitution) {
    const auto found = substitution.find(value);
    if (found == substitution.end()) return;
    if (const auto* ref = std::get_if<ValueRef>(&found->second)) value = ref->id;
  }

  Graph& graph_;
};

}  // namespace

void inline_regions(Graph& graph) { Inliner(graph).run(); }

}  // namespace symprof::trace
