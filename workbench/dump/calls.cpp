#include "workbench/dump/calls.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "trace/graph/module_patterns.h"
#include "trace/graph/uses.h"

namespace symprof::workbench {
namespace {

std::size_t index_of(ValueId id) { return static_cast<std::size_t>(id); }

/// By value: true if it depends on an input of the graph. Others are equal in each run.
std::vector<bool> followers_of_inputs(const Graph& graph) {
  std::vector<bool> follows(graph.values.size());
  for (const ValueId id : graph.inputs)
    follows[index_of(id)] = graph.value(id).kind == ValueKind::input;
  for (const Node& node : graph.nodes) {
    bool any = false;
    for_each_value(node, [&](ValueId id) { any |= id >= 0 && follows[index_of(id)]; });
    for (const ValueId id : node.outputs)
      if (id >= 0) follows[index_of(id)] = any;
  }
  return follows;
}

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), uses_(graph), follows_(followers_of_inputs(graph)) {}

  /// Calls of modules whose path satisfies `matches`, in the order of scopes.
  template <class Matches>
  void add_modules(const Matches& matches, std::vector<Call>& calls) const {
    if (matches("")) calls.push_back(whole());
    std::vector<std::optional<std::size_t>> call_of(graph_.scopes.size());
    for (std::size_t i = 1; i < graph_.scopes.size(); ++i) {
      const std::string path = trace::module_path(graph_.scopes[i]);
      if (path.empty() || !matches(path)) continue;
      call_of[i] = calls.size();
      calls.push_back({.name = path});
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (ScopeId scope = graph_.nodes[i].scope; scope > 0;
           scope = graph_.scopes[index_of(scope)].parent)
        if (const auto call = call_of[index_of(scope)]) calls[*call].nodes.push_back(i);
    std::erase_if(calls, [](const Call& call) { return call.nodes.empty() && !call.name.empty(); });
    number(calls);
    for (Call& call : calls)
      if (!call.name.empty()) add_border(call);
  }

  template <class Matches>
  void add_nodes(const Matches& matches, std::vector<Call>& calls) const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (matches(graph_.nodes[i].name)) calls.push_back(call_of_node(i));
  }

 private:
  bool is_weight(ValueId id) const {
    const ValueKind kind = graph_.value(id).kind;
    return kind != ValueKind::result && kind != ValueKind::input;
  }

  Call whole() const {
    Call call;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) call.nodes.push_back(i);
    for (const ValueId id : graph_.inputs)
      if (!is_weight(id)) call.inputs.push_back(id);
    call.outputs = graph_.outputs;
    for (std::size_t i = 0; i < graph_.values.size(); ++i)
      if (const auto id = static_cast<ValueId>(i); is_weight(id) && !uses_.readers(id).empty())
        call.weights.push_back(id);
    return call;
  }

  Call call_of_node(std::size_t index) const {
    const Node& node = graph_.nodes[index];
    Call call{.name = node.name, .is_node = true, .nodes = {index}, .outputs = node.outputs};
    for (const Argument& argument : node.arguments) {
      if (argument.name.empty() && std::holds_alternative<NoArgument>(argument.value))
        call.inputs.push_back(no_value);
      for_each_value(argument, [&](ValueId id) { call.inputs.push_back(id); });
    }
    std::erase_if(call.outputs, [](ValueId id) { return id < 0; });
    return call;
  }

  /// Numbers the calls of one path in the order of their first nodes.
  static void number(std::vector<Call>& calls) {
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      return std::pair(a.nodes.empty() ? 0 : a.nodes[0] + 1, b.nodes.size()) <
             std::pair(b.nodes.empty() ? 0 : b.nodes[0] + 1, a.nodes.size());
    });
    std::map<std::string, std::int64_t> seen;
    for (Call& call : calls) call.iteration = seen[call.name]++;
  }

  void add_border(Call& call) const {
    const std::set<std::size_t> inside(call.nodes.begin(), call.nodes.end());
    std::set<ValueId> known;
    for (const std::size_t index : call.nodes) {
      for_each_value(graph_.nodes[index], [&](ValueId id) {
        if (id < 0 || !known.insert(id).second) return;
        if (is_weight(id)) return call.weights.push_back(id);
        const auto maker = uses_.maker(id);
        if (follows_[index_of(id)] && !(maker && inside.contains(*maker)))
          call.inputs.push_back(id);
      });
      for (const ValueId id : graph_.nodes[index].outputs) {
        if (id < 0) continue;
        bool is_read_outside = uses_.is_output(id);
        for (const std::size_t reader : uses_.readers(id))
          is_read_outside |= !inside.contains(reader);
        if (is_read_outside) call.outputs.push_back(id);
      }
    }
  }

  const Graph& graph_;
  const trace::Uses uses_;
  const std::vector<bool> follows_;
};

[[noreturn]] void refuse(const Graph& graph, const char* option, const std::string& pattern,
                         const std::vector<std::string>& names) {
  const std::string suggestion = did_you_mean(pattern, names);
  throw Error(SettingRef{option, pattern}, fmt::format("matches no {} of {}", option, graph.path),
              suggestion.empty() ? "symprof show prints what the model has." : suggestion);
}

}  // namespace

std::vector<Call> all_calls(const Graph& graph) {
  const Finder finder(graph);
  std::vector<Call> calls;
  const auto all = [](const std::string&) { return true; };
  finder.add_modules(all, calls);
  finder.add_nodes(all, calls);
  return calls;
}

std::vector<Call> calls_of(const Graph& graph, const CallChoice& choice) {
  const Finder finder(graph);
  std::vector<Call> calls;
  std::set<std::string> open(choice.modules.begin(), choice.modules.end());
  std::vector<std::string> names;
  const auto matches = [&](const std::string& path) {
    bool any = false;
    for (const std::string& pattern : choice.modules) {
      if (path.empty() ? !pattern.empty() : !trace::matches_path(pattern, path)) continue;
      open.erase(pattern);
      any = true;
    }
    return any;
  };
  if (!choice.modules.empty()) finder.add_modules(matches, calls);
  for (const Scope& scope : graph.scopes) names.push_back(trace::module_path(scope));
  if (!open.empty()) refuse(graph, "module", *open.begin(), names);
  open = {choice.nodes.begin(), choice.nodes.end()};
  const auto matches_node = [&](const std::string& name) {
    bool any = false;
    for (const std::string& pattern : choice.nodes) {
      if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      open.erase(pattern);
      any = true;
    }
    return any;
  };
  if (!choice.nodes.empty()) finder.add_nodes(matches_node, calls);
  names.clear();
  for (const Node& node : graph.nodes) names.push_back(node.name);
  if (!open.empty()) refuse(graph, "node", *open.begin(), names);
  return calls;
}

Graph part_of(const Graph& graph, const std::vector<ValueId>& given,
              const std::vector<ValueId>& wanted) {
  Graph part;
  part.path = graph.path;
  part.format = graph.format;
  part.traits = graph.traits;
  part.opsets = graph.opsets;
  part.scopes = graph.scopes;
  part.source_lines = graph.source_lines;
  part.values = graph.values;
  std::vector<bool> is_given(graph.values.size()), is_needed(graph.values.size());
  for (const ValueId id : given)
    if (id >= 0) is_given[index_of(id)] = true;
  for (const ValueId id : wanted) is_needed[index_of(id)] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool runs = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
      return id >= 0 && is_needed[index_of(id)] && !is_given[index_of(id)];
    });
    if (!runs) continue;
    for_each_value(*node, [&](ValueId id) {
      if (id >= 0) is_needed[index_of(id)] = true;
    });
    part.nodes.push_back(*node);
    for (ValueId& id : part.nodes.back().outputs)
      if (id >= 0 && is_given[index_of(id)]) id = no_value;
  }
  std::reverse(part.nodes.begin(), part.nodes.end());
  for (std::size_t i = 0; i < part.values.size(); ++i) {
    if (!is_needed[i] && !is_given[i]) continue;
    if (is_given[i]) part.values[i].kind = ValueKind::input;
    if (part.values[i].kind == ValueKind::input) part.inputs.push_back(static_cast<ValueId>(i));
  }
  part.outputs = wanted;
  return part;
}

}  // namespace symprof::workbench
