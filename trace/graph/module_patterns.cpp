#include "trace/graph/module_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"

namespace symprof::trace {
namespace {

std::string slashed(std::string path) {
  std::ranges::replace(path, '.', '/');
  return path;
}

bool matches(const std::string& pattern, const std::string& path, int flags) {
  return fnmatch(slashed(pattern).c_str(), slashed(path).c_str(), FNM_PATHNAME | flags) == 0;
}

}  // namespace

bool matches_path(const std::string& pattern, const std::string& path) {
  return matches(pattern, path, 0);
}

bool matches_path_or_above(const std::string& pattern, const std::string& path) {
  return matches(pattern, path, FNM_LEADING_DIR);
}

std::string module_path(const Scope& scope) { return scope.path.substr(0, scope.path.find('@')); }

std::vector<ScopeId> matched_scopes(const Graph& graph, const std::vector<std::string>& patterns,
                                    std::string_view setting_name) {
  std::vector<ScopeId> matched(graph.scopes.size(), 0);
  std::set<std::string> open(patterns.begin(), patterns.end());
  for (std::size_t i = 1; i < graph.scopes.size(); ++i)
    for (auto scope = static_cast<ScopeId>(i); scope != 0;
         scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
      for (const std::string& pattern : patterns)
        if (matches_path(pattern, module_path(graph.scopes[static_cast<std::size_t>(scope)]))) {
          matched[i] = scope;
          open.erase(pattern);
        }
  if (open.empty()) return matched;
  constexpr std::size_t most_suggested = 5;
  std::vector<std::string> known = repeated_modules(graph);
  known.resize(std::min(known.size(), most_suggested));
  throw Error(graph.path, fmt::format("no module matches {}", setting(setting_name, *open.begin())),
              known.empty() ? "The file does not say which modules its nodes belong to."
                            : fmt::format("Modules that repeat: {}.", fmt::join(known, ", ")));
}

std::vector<std::string> repeated_modules(const Graph& graph) {
  std::vector<std::size_t> nodes(graph.scopes.size());
  for (const Node& node : graph.nodes)
    for (ScopeId scope = node.scope; scope != 0;
         scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
      ++nodes[static_cast<std::size_t>(scope)];
  struct Group {
    std::set<std::string> paths;
    std::size_t nodes = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;  // By pattern and type.
  for (std::size_t i = 1; i < graph.scopes.size(); ++i) {
    const std::string path = module_path(graph.scopes[i]);
    const std::size_t dot = path.rfind('.');
    if (dot == path.npos || nodes[i] < 2) continue;
    Group& group = groups[{path.substr(0, dot) + ".*", graph.scopes[i].type}];
    group.paths.insert(path);
    group.nodes += nodes[i];
  }
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& [key, group] : groups)
    if (group.paths.size() > 1) found.emplace_back(group.nodes, key.first);
  std::ranges::stable_sort(found, std::greater(), &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> patterns;
  for (auto& [count, pattern] : found)
    if (std::ranges::find(patterns, pattern) == patterns.end()) patterns.push_back(pattern);
  return patterns;
}

}  // namespace symprof::trace
