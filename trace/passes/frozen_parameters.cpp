#include "trace/passes/frozen_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "trace/graph/module_patterns.h"

namespace symprof::trace {
namespace {

/// By value: the modules of the nodes that take it.
std::vector<std::set<ScopeId>> users_of(const Graph& graph) {
  std::vector<std::set<ScopeId>> users(graph.values.size());
  for (const Node& node : graph.nodes)
    for (const Argument& argument : node.arguments)
      for_each_value(argument, [&](ValueId id) {
        if (id != no_value) users[static_cast<std::size_t>(id)].insert(node.scope);
      });
  return users;
}

/// Of a parameter without a path of its own, the modules that use it speak.
bool is_meant(const Graph& graph, const std::string& pattern, const Value& parameter,
              const std::set<ScopeId>& users) {
  if (matches_path_or_above(pattern, parameter.name)) return true;
  const auto is_in = [&](ScopeId scope) {
    return scope != 0 && matches_path_or_above(
                             pattern, module_path(graph.scopes[static_cast<std::size_t>(scope)]));
  };
  return parameter.name.find('.') == std::string::npos && std::ranges::any_of(users, is_in);
}

[[noreturn]] void fail(const Graph& graph, const std::string& pattern) {
  const auto is_parameter = [](const Value& value) { return value.kind == ValueKind::parameter; };
  const auto names = graph.values | ranges::views::filter(is_parameter) |
                     ranges::views::transform(&Value::name) | ranges::to<std::vector>();
  const std::string hint = did_you_mean(pattern, names);
  throw Error(graph.path, fmt::format("no parameter matches --freeze {}", pattern),
              !hint.empty()   ? hint
              : names.empty() ? "The file has no parameters."
                              : fmt::format("The first is called {}.", names[0]));
}

}  // namespace

std::vector<bool> frozen_parameters(const Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<bool> frozen(graph.values.size());
  if (patterns.empty()) return frozen;
  const std::vector<std::set<ScopeId>> users = users_of(graph);
  for (const std::string& pattern : patterns) {
    bool is_used = false;
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      const Value& value = graph.values[i];
      if (value.kind != ValueKind::parameter || !is_meant(graph, pattern, value, users[i]))
        continue;
      frozen[i] = is_used = true;
    }
    if (!is_used) fail(graph, pattern);
  }
  return frozen;
}

}  // namespace symprof::trace
