#include "trace/passes/inline_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <type_traits>
#include <unordered_map>

#include "base/error.h"
#include "trace/graph/edit.h"
#include "trace/graph/region_markers.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

constexpr std::string_view set_grad_enabled = "higher_order::wrap_with_set_grad_enabled";
constexpr std::string_view autocast = "higher_order::wrap_with_autocast";

// Operators that only run their subgraph (torch/_higher_order_ops). The last two mark nodes for a
// compiler.
constexpr std::array<std::string_view, 5> transparent = {
    "higher_order::wrap", "higher_order::strict_mode", "higher_order::invoke_subgraph",
    "higher_order::hints_wrapper", "higher_order::run_const_graph"};

bool changes_mode(const Node& node) { return node.op == set_grad_enabled || node.op == autocast; }

bool is_flattened(const Node& node) {
  return changes_mode(node) || std::ranges::find(transparent, node.op) != transparent.end();
}

// The replacement of a value of the subgraph or of a result of the region: another value, or a
// number.
using Substitution = std::unordered_map<ValueId, ArgumentValue>;

void substitute(Argument& argument, const Substitution& substitution) {
  if (const auto* ref = std::get_if<ValueRef>(&argument.value)) {
    const auto found = substitution.find(ref->id);
    if (found != substitution.end()) argument.value = ArgumentValue(found->second);
    return;
  }
  if (auto* nested = std::get_if<std::vector<Argument>>(&argument.value))
    for (Argument& element : *nested) substitute(element, substitution);
  auto* list = std::get_if<std::vector<ListElement>>(&argument.value);
  if (list == nullptr) return;
  for (ListElement& element : *list) {
    const auto* ref = std::get_if<ValueRef>(&element);
    if (ref == nullptr) continue;
    const auto found = substitution.find(ref->id);
    if (found == substitution.end()) continue;
    std::visit(
        [&](const auto& held) {
          if constexpr (std::is_constructible_v<ListElement, std::decay_t<decltype(held)>>)
            element = held;
        },
        found->second);
  }
}

// An argument as operands of a subgraph: a list is several. Identifiers and dictionaries of hints
// are none.
class OperandList {
 public:
  void add(const Argument& argument) {
    if (argument.name.empty()) std::visit(*this, argument.value);
  }
  std::vector<ArgumentValue> take() { return std::move(operands_); }

  void operator()(const std::vector<ListElement>& list) {
    for (const ListElement& element : list)
      operands_.push_back(
          std::visit([](const auto& held) { return ArgumentValue(held); }, element));
  }
  void operator()(const std::vector<std::int64_t>& list) {
    operands_.insert(operands_.end(), list.begin(), list.end());
  }
  void operator()(const std::string&) {}
  void operator()(const std::vector<Argument>&) {}
  template <class Other>
  void operator()(const Other& operand) {
    operands_.emplace_back(operand);
  }

 private:
  std::vector<ArgumentValue> operands_;
};

struct Subgraph {
  std::shared_ptr<const Graph> body;
  std::vector<ArgumentValue> operands;
};

// The subgraph of a node, and what follows it among the arguments.
Subgraph region_of(const Graph& graph, const Node& node) {
  Subgraph region;
  OperandList operands;
  for (const Argument& argument : node.arguments) {
    if (region.body)
      operands.add(argument);
    else if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&argument.value))
      region.body = *body;
  }
  const auto where = [&] {
    return fmt::format("{}: node {} ({})", graph.path, node.name, node.op);
  };
  if (!region.body)
    throw Error(where(), "holds no subgraph", "The file may be damaged; export it again.");
  region.operands = operands.take();
  if (region.operands.size() != region.body->inputs.size())
    throw Error(where(), fmt::format("{} operands for a subgraph of {} inputs",
                                     region.operands.size(), region.body->inputs.size()));
  return region;
}

bool is_enabled(const Node& node, std::size_t position) {
  const auto* flag = argument_at<bool>(node, position);
  return flag == nullptr || *flag;
}

// wrap_with_set_grad_enabled(enabled, subgraph, *operands);
// wrap_with_autocast(device_type, dtype, enabled, cache_enabled, subgraph, *operands):
// torch/_higher_order_ops/wrap.py and torch/_export/passes/replace_*_with_hop_pass.py.
Node marker(const Node& node) {
  Node result{.name = node.name + "_begin", .scope = node.scope};
  if (node.op == set_grad_enabled) {
    result.op = region_grad_mode;
    result.arguments.push_back({"enabled", is_enabled(node, 0)});
    return result;
  }
  result.op = region_autocast;
  result.arguments.push_back({"enabled", is_enabled(node, 2)});
  if (const auto* dtype = argument_at<DType>(node, 1))
    result.arguments.push_back({"dtype", *dtype});
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
    if (is_flattened(node)) return expand(node, substitution);
    for (Argument& argument : node.arguments) change_nested(argument, inline_regions);
    names_.insert(node.name);
    graph_.nodes.push_back(std::move(node));
  }

  void expand(const Node& node, Substitution& outer) {
    const Subgraph region = region_of(graph_, node);
    const Graph& body = *region.body;
    Substitution inner;
    for (std::size_t i = 0; i < body.inputs.size(); ++i) inner[body.inputs[i]] = region.operands[i];
    import_constants(body, inner);
    const std::vector<SourceId> sources = import_sources(body);
    if (changes_mode(node)) graph_.nodes.push_back(marker(node));
    for (Node inside : body.nodes) {
      if (inside.source != no_source)
        inside.source = sources[static_cast<std::size_t>(inside.source)];
      append_inside(std::move(inside), node, body, inner);
    }
    if (changes_mode(node))
      graph_.nodes.push_back(
          {.name = node.name + "_end", .op = std::string(region_end), .scope = node.scope});
    for (std::size_t i = 0; i < node.outputs.size() && i < body.outputs.size(); ++i)
      if (node.outputs[i] != no_value) outer[node.outputs[i]] = inner.at(body.outputs[i]);
  }

  // Numbers are written where they are used; tensors become values of the graph.
  void import_constants(const Graph& body, Substitution& inner) {
    for (std::size_t id = 0; id < body.values.size(); ++id) {
      const Value& value = body.values[id];
      if (value.kind != ValueKind::constant) continue;
      inner[static_cast<ValueId>(id)] =
          value.scalar
              ? std::visit([](auto number) { return ArgumentValue(number); }, *value.scalar)
          : value.spec ? ArgumentValue(ValueRef{graph_.add_value(value)})
                       : ArgumentValue(NoArgument{});
    }
  }

  void append_inside(Node copy, const Node& region, const Graph& body, Substitution& inner) {
    if (names_.contains(copy.name)) copy.name = fmt::format("{}.{}", region.name, copy.name);
    copy.scope = copy.scope == 0 ? region.scope : scope_of(body, copy.scope);
    if (copy.source == no_source) copy.source = region.source;
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
      // The results of a nested region are already substituted.
      const auto nested = inner.find(made[i]);
      inner[inside[i]] = nested == inner.end() ? ArgumentValue(ValueRef{made[i]}) : nested->second;
    }
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

  // Where the lines of the body are among those of the graph.
  std::vector<SourceId> import_sources(const Graph& body) {
    std::vector<SourceId> sources;
    for (SourceLine line : body.source_lines) {
      if (line.caller != no_source) line.caller = sources[static_cast<std::size_t>(line.caller)];
      const auto found = std::ranges::find_if(graph_.source_lines, [&](const SourceLine& known) {
        return known.caller == line.caller && known.line == line.line && known.file == line.file;
      });
      sources.push_back(static_cast<SourceId>(found - graph_.source_lines.begin()));
      if (found == graph_.source_lines.end()) graph_.source_lines.push_back(std::move(line));
    }
    return sources;
  }

  static void replace(ValueId& value, const Substitution& substitution) {
    const auto found = substitution.find(value);
    if (found == substitution.end()) return;
    if (const auto* ref = std::get_if<ValueRef>(&found->second)) value = ref->id;
  }

  Graph& graph_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

void inline_regions(Graph& graph) { Inliner(graph).run(); }

}  // namespace symprof::trace
