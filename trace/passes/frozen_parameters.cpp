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
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// True if `pattern` matches `parameter`: by its path, or, for a parameter without a path, by the
/// modules of the nodes that read it.
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
  const auto is_parameter = [](const Value& value) { return value.kind == ValueKind::parameter; };
  const auto names = graph.values | ranges::views::filter(is_parameter) |
                     ranges::views::transform(&Value::name) | ranges::to<std::vector>();
  const std::string hint = did_you_mean(pattern, names);
  throw Error(graph.path, fmt::format("no parameter matches {}", setting("freeze", pattern)),
              !hint.empty()   ? hint
              : names.empty() ? "The file has no parameters."
                              : fmt::format("The first is called {}.", names[0]));
}

}  // namespace

void freeze_parameters(Graph& graph, const std::vector<std::string>& patterns) {
  const Uses uses(graph);
  for (const std::string& pattern : patterns) {
    bool is_used = false;
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      Value& value = graph.values[i];
      if (value.kind != ValueKind::parameter ||
          !is_meant(graph, pattern, static_cast<ValueId>(i), uses))
        continue;
      value.requires_grad = false;
      is_used = true;
    }
    if (!is_used) fail(graph, pattern);
  }
}

}  // namespace symprof::trace
