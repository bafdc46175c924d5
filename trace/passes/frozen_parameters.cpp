#include "trace/passes/frozen_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "trace/graph/module_patterns.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// Of a parameter without a path of its own, the modules of the nodes that read it speak.
bool is_meant(const Graph& graph, const std::string& pattern, ValueId parameter, const Uses& uses) {
  const std::string& name = graph.value(parameter).name;
  if (matches_path_or_above(pattern, name)) return true;
  const auto is_in = [&](std::size_t reader) {
    const ScopeId scope = graph.nodes[reader].scope;
    return scope != 0 && matches_path_or_above(
                             pattern, module_path(graph.scopes[static_cast<std::size_t>(scope)]));
  };
  return name.find('.') == std::string::npos && std::ranges::any_of(uses.readers(parameter), is_in);
}

[[noreturn]] void fail(const Graph& graph, const std::string& pattern) {
  std::vector<std::string> names;
  for (const Value& value : graph.values)
    if (value.kind == ValueKind::parameter) names.push_back(value.name);
  const std::string hint = did_you_mean(pattern, names);
  throw Error(graph.path, fmt::format("no parameter matches {}", setting("freeze", pattern)),
              !hint.empty()   ? hint
              : names.empty() ? "The file has no parameters."
                              : fmt::format("The first is called {}.", names[0]));
}

}  // namespace

std::vector<bool> frozen_parameters(const Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<bool> frozen(graph.values.size());
  if (patterns.empty()) return frozen;
  const Uses uses(graph);
  for (const std::string& pattern : patterns) {
    bool is_used = false;
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      if (graph.values[i].kind != ValueKind::parameter ||
          !is_meant(graph, pattern, static_cast<ValueId>(i), uses))
        continue;
      frozen[i] = is_used = true;
    }
    if (!is_used) fail(graph, pattern);
  }
  return frozen;
}

}  // namespace symprof::trace
