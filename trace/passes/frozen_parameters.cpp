#include "trace/passes/frozen_parameters.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "meta/error.h"
#include "meta/nearest.h"

namespace symprof::trace {
namespace {

std::string slashed(std::string path) {
  std::ranges::replace(path, '.', '/');
  return path;
}

[[noreturn]] void fail(const Graph& graph, const std::string& pattern) {
  std::vector<std::string> names;
  for (const Value& value : graph.values)
    if (value.kind == ValueKind::parameter) names.push_back(value.name);
  const std::string hint = did_you_mean(pattern, names);
  throw Error(graph.path, fmt::format("no parameter matches --freeze {}", pattern),
              !hint.empty()   ? hint
              : names.empty() ? "The file has no parameters."
                              : fmt::format("The first is called {}.", names[0]));
}

}  // namespace

std::vector<bool> frozen_parameters(const Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<bool> frozen(graph.values.size());
  for (const std::string& pattern : patterns) {
    bool is_used = false;
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      const Value& value = graph.values[i];
      if (value.kind != ValueKind::parameter ||
          fnmatch(slashed(pattern).c_str(), slashed(value.name).c_str(),
                  FNM_PATHNAME | FNM_LEADING_DIR) != 0)
        continue;
      frozen[i] = is_used = true;
    }
    if (!is_used) fail(graph, pattern);
  }
  return frozen;
}

}  // namespace symprof::trace
